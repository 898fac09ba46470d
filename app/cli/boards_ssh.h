// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of `boards` that reach a board over SSH.
#pragma once

#include "app/remote/ssh/ssh_options.h"
#include "app/store/run_store.h"
#include "sim_engine/base/args.h"

namespace shardscope::app {

/// A board that was asked for by name or address, and how to reach it.
struct ReachedBoard {
    RemoteBoard record; ///< named by its address where it was not added
    SshTarget target;
    SshOptions options;
    bool isAdded = false;
};

/// A board of the store, or "user@host:port"; what flags tell counts more than what was kept.
/// Usage error where it is neither.
base::Result<ReachedBoard>
reachBoard(const QString& nameOrAddress, RunStore& store, const base::Args& args);

int addBoard(const QString& name, const QString& address, RunStore& store, const base::Args& args);
int testBoard(const QString& board, RunStore& store, const base::Args& args);
int probeBoard(const QString& board, RunStore& store, const base::Args& args);
/// Runs that a board has kept since nobody fetched them: into the store.
int fetchRuns(const QString& board, RunStore& store, const base::Args& args);
int examineBoard(const QString& board, RunStore& store, const base::Args& args);
int removeBoard(const QString& name, RunStore& store);

} // namespace shardscope::app
