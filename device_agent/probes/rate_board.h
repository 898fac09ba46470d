// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

/// Seconds of one thing, measured again in each round. Other programs only ever slow a round down,
/// and seldom all of them, so the quickest round is what the machine does when it is left alone.
class Rounds {
public:
    void add(double seconds) { m_seconds.push_back(seconds); }
    bool empty() const { return m_seconds.empty(); }
    double best() const;
    /// How far the rounds lie apart: median / best - 1.
    double spread() const;
    /// The median of the ratios to the same rounds of another thing.
    double medianAgainst(const Rounds& other) const;

private:
    std::vector<double> m_seconds;
};

/// The kernels of a probe: seconds by round, and the operations that they did in them.
class RateBoard {
public:
    void add(plan::KernelKey key, bool streamed, double operations, double seconds);
    /// Operations per second; 0 where nothing was measured.
    double rate(plan::KernelKey key, bool streamed) const;
    void writeTo(plan::BoardProfile& board) const;
    /// The median of the spreads.
    double spread() const;

private:
    struct Row {
        plan::KernelKey key;
        bool streamed = false;
        double operations = 0;
        Rounds rounds;
    };
    std::vector<Row> m_rows;
};

} // namespace shardscope::probes
