// SPDX-License-Identifier: GPL-3.0-or-later
// This machine, held to what a board has: `--board emulated:NAME`.
//
// RAM and the speed of the storage are those of the board. The processor is this machine's own, for
// a share of the time: the share is board / machine of the geometric mean of the rates of products
// with many rows and with one row (f16, from memory), for all fast cores of the board. Kernels
// differ in how they compare, so an emulated run is right about memory and reads and near about
// time; the share and where it comes from stand in the run.
#pragma once

#include <QString>

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/run_config.h"

namespace shardscope::app {

/// "emulated:v851s-512m-nand".
bool isEmulated(const QString& board);
/// What follows "emulated:".
QString emulatedName(const QString& board);

/// What an emulated run is held to.
struct EmulationLimits {
    base::Bytes memory;            ///< that the board leaves to a program
    double readBytesPerSecond = 0; ///< of its storage
    double cores = 0;         ///< processors of this machine, 0.25 = a quarter of the time of one;
                              ///< 0: this machine is no faster than the board
    std::int32_t threads = 1; ///< the board's fast cores, or as many as there are here
};

EmulationLimits emulationLimits(const plan::BoardProfile& board, const plan::BoardProfile& local);

/// What is predicted for a run on `local` that is held to `limits`: its rates scaled to the share
/// of the processor, its reads held to the board's.
plan::BoardProfile emulatedProfile(
    const plan::BoardProfile& board, const plan::BoardProfile& local,
    const EmulationLimits& limits);

} // namespace shardscope::app
