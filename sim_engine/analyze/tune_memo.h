// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim_engine/analyze/tune.h"

namespace shardscope::analyze {

/// Predictions that were made so far. A plan takes the longest prefix of its pins that the budget
/// holds, so every budget from a plan's peak to the one it was made for gives the same plan, and
/// below its least need none: one prediction answers for all of them.
class TuneMemo {
public:
    /// Told after each batch; false ends the search.
    using GoOn = std::function<bool()>;

    TuneMemo(const Predict& predict, GoOn goOn) : m_predict(predict), m_goOn(std::move(goOn)) {}

    /// The figures of each, in their order; fewer where the search was ended.
    std::vector<TuneFigures> assess(std::span<const plan::RunConfig> configs);
    bool ended() const { return m_ended; }
    /// Configurations that were predicted.
    std::int64_t tried() const { return m_tried; }

private:
    /// What is known of settings under any budget.
    struct Known {
        base::Bytes needed; ///< no budget below this holds them
        struct Made {
            base::Bytes budget;
            TuneFigures figures;
        };
        std::vector<Made> made;
    };
    const TuneFigures* find(const std::string& key, base::Bytes budget);
    void remember(const std::string& key, base::Bytes budget, const TuneFigures& figures);
    void predictMissing(std::span<const plan::RunConfig> configs);

    const Predict& m_predict;
    GoOn m_goOn;
    std::map<std::string, Known> m_known;
    TuneFigures m_unfit; ///< what find() says of a budget that is too small
    std::int64_t m_tried = 0;
    bool m_ended = false;
};

} // namespace shardscope::analyze
