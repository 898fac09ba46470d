// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that outlive their link. Each is a process of its own that writes its stream into
// FOLDER/ID.sst and holds a lock on that file while it lives; whoever is connected reads the file.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::agent {

/// A run in the spool.
struct SpooledRun {
    std::string id;
    base::Bytes bytes;
    bool isAlive = false;       ///< its process writes still
    std::int64_t changedAt = 0; ///< seconds since 1970
};

class Spool {
public:
    /// $XDG_CACHE_HOME/shardscope/runs, ~/.cache/shardscope/runs, or, where there is no home,
    /// /tmp/shardscope-UID/runs.
    static std::string standardFolder();

    /// Makes the folder, for this user alone. Failed where that cannot be.
    static base::Result<Spool> open(const std::string& folder);

    /// A name that no run has.
    std::string newId() const;
    /// Usage for an id that newId() cannot have made: it becomes a part of a path.
    base::Result<std::string> pathOf(const std::string& id) const;

    std::vector<SpooledRun> runs() const;
    /// Removes a run; Usage where it is unknown, or goes on still.
    base::Status forget(const std::string& id) const;
    /// Removes runs that are over and that nobody fetched for so long.
    void sweep(std::chrono::seconds age) const;

private:
    explicit Spool(std::string folder) : m_folder(std::move(folder)) {}
    std::string m_folder;
};

/// The process that holds the lock on a spool file; none where none does.
std::optional<pid_t> writerOf(int descriptor);
/// Takes the lock for this process, until it ends.
bool lockForWriting(int descriptor);

} // namespace shardscope::agent
