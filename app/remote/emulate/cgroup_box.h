// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QString>

#include "app/remote/emulate/cgroup_places.h"
#include "app/remote/emulate/emulated_board.h"

namespace shardscope::app {

/// Control groups that hold one child process to the limits of a board: memory, reads of the disk
/// with its model, and time of the processor, each where this system permits it. The groups are
/// removed with the object, and those that a crash left behind before new ones are made.
/// Thread-compatible, but for enter().
class CgroupBox {
public:
    /// Makes what can be made; what could not is told by the empty words below. `model` is the file
    /// whose disk is held back; reads are left alone where `holdReads` is false.
    static std::unique_ptr<CgroupBox> create(
        const EmulationLimits& limits, const QString& model, bool holdReads,
        const CgroupRoots& roots = {});
    ~CgroupBox();
    CgroupBox(const CgroupBox&) = delete;
    CgroupBox& operator=(const CgroupBox&) = delete;

    /// What holds a limit, "memory.limit_in_bytes (cgroup v1)"; empty where nothing does.
    const QString& memoryBy() const { return m_memoryBy; }
    const QString& readsBy() const { return m_readsBy; }
    const QString& processorBy() const { return m_processorBy; }

    /// Moves the calling process into the groups. For a child between fork and exec: calls nothing
    /// but write(2). False where the kernel refused.
    bool enter() const noexcept;

    /// Most memory that the group has held, page cache included; none without a memory group.
    std::optional<base::Bytes> memoryPeak() const;
    /// Times that the kernel killed a process of the group for memory.
    int oomKills() const;

    /// Removes groups of dead programs in all places.
    static void sweep(const CgroupRoots& roots = {});

private:
    struct Group {
        CgroupPlace place;
        QString folder;
        int procs = -1; ///< cgroup.procs, open for writing
    };
    CgroupBox() = default;
    /// The words for what holds it, or an empty string.
    QString hold(
        Controller controller, const QString& fileV1, const QString& valueV1, const QString& fileV2,
        const QString& valueV2, const CgroupRoots& roots);
    Group* groupIn(const CgroupPlace& place, Controller controller);
    bool canEnter() const;
    void dropEmptyGroup(const QString& folder);
    const Group* memoryGroup() const;

    std::vector<Group> m_groups;
    QString m_memoryBy, m_readsBy, m_processorBy;
};

} // namespace shardscope::app
