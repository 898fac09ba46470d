// SPDX-License-Identifier: GPL-3.0-or-later
// What `--board` means: this machine, a preset, a file, a board that was met before, or this
// machine held to what one of them has.
#pragma once

#include <QString>
#include <QStringList>

#include "app/store/run_store.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::app {

inline const QString kLocalBoard = QStringLiteral("local");

/// The boards that come with the program, sorted.
QStringList presetBoardNames();
/// Usage error, listing the presets, where there is none of that name.
base::Result<plan::BoardProfile> presetBoard(const QString& name);
/// A profile in JSON, as `shardscope-agent probe --json` prints it. BadInput where it is none.
base::Result<plan::BoardProfile> boardFromFile(const QString& path);

/// How long a measurement of this machine may take: some seconds, or up to a minute.
enum class ProbeDepth { Quick, Full };

/// Measures this machine by `shardscope-agent probe --json`. Thread-safe.
base::Result<plan::BoardProfile> probeLocalBoard(ProbeDepth depth = ProbeDepth::Quick);
/// This machine as it was measured once and kept in the store; measures it if need be. `store` may
/// be null.
base::Result<plan::BoardProfile> localBoard(RunStore* store);

/// "local", the name of a preset or of a board in the store, a file, or "emulated:" and one of
/// these: this machine as it is when it is held to that board.
base::Result<plan::BoardProfile> resolveBoard(const QString& nameOrFile, RunStore* store);

} // namespace shardscope::app
