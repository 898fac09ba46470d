// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of simulated runs start from.
#pragma once

#include "plan_fixtures.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::test {

inline constexpr const char* kBoards[] = {"v851s-512m-nand", "rk3588-16g-emmc", "rk3588-16g-nvme"};

/// A budget in which most of a small model is streamed.
inline plan::RunConfig tight(const char* budget = "40MiB") {
    plan::RunConfig config;
    config.maxTokens = 20;
    if (!plan::setKnob(config, "--budget", budget))
        qFatal("no budget");
    return config;
}

} // namespace shardscope::test
