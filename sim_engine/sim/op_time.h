// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/walk.h"

namespace shardscope::sim {

/// How long the ops of one plan take on one board: max(flops / rate, bytes / memory bandwidth) and
/// a fixed cost.
class OpTimes {
public:
    OpTimes(const plan::Plan& plan, const plan::BoardProfile& board);

    double nanos(base::OpId op, const plan::OpContext& context) const;

private:
    struct Terms {
        double flopNs = 0, flopNsPerPosition = 0;
        double weightNs = 0, stateNs = 0, stateNsPerPosition = 0;
        bool lastTokenOnly = false;
    };
    std::vector<Terms> m_terms; ///< by OpId
    double m_fixedNs;
};

} // namespace shardscope::sim
