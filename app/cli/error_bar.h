// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shardscope::app {

/// How far predictions for this board have been off, by figure; null where nothing was validated.
nlohmann::ordered_json errorBar(const std::string& board);

/// The same for people, with a newline before it; empty where it is null.
std::string errorBarText(const nlohmann::ordered_json& error);

} // namespace shardscope::app
