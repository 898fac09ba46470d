// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shardscope::app {

/// The result document (DESIGN section 6) for people: a few aligned lines.
std::string resultText(const nlohmann::ordered_json& result);

/// A figure of two result documents, for `runs compare`.
struct FigureDelta {
    std::string name;
    std::string before;
    std::string after;
    std::string change; ///< "-12.5 %", "same", or empty where it has no meaning
};

/// Figures, then every knob that differs.
std::vector<FigureDelta>
compareResults(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after);

} // namespace shardscope::app
