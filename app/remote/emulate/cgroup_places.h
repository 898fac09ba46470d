// SPDX-License-Identifier: GPL-3.0-or-later
// Where control groups of our own can stand. Source: Documentation/admin-guide/cgroup-v1 and
// cgroup-v2.rst of Linux.
#pragma once

#include <QList>
#include <QString>

namespace shardscope::app {

/// Where the kernel shows itself; tests put files of their own there.
struct CgroupRoots {
    QString groups = QStringLiteral("/proc/self/cgroup");
    QString mount = QStringLiteral("/sys/fs/cgroup");
    QString devices = QStringLiteral("/sys/dev/block");
};

/// A folder in which groups with one controller can be made, if the system permits it.
struct CgroupPlace {
    bool isV2 = false;
    QString folder;

    bool operator==(const CgroupPlace&) const = default;
};

enum class Controller { Memory, Reads, Processor };

/// Candidates, the nearest to this process first. Version 1: its own group and those above.
/// Version 2: those above alone, as a group with processes has no groups with controllers in it;
/// only places whose controllers include this one.
QList<CgroupPlace> cgroupPlaces(Controller controller, const CgroupRoots& roots = {});

/// "8:0" of the disk that holds a file, also when it is on a partition; empty where the file system
/// has no device of its own or the file is not there.
QString diskOf(const QString& file, const CgroupRoots& roots = {});
QString diskOf(unsigned major, unsigned minor, const CgroupRoots& roots);

/// Our groups are called "shardscope-PID-START-N", so that what a dead program left can be told
/// from what a living one uses: START is the time at which the process began.
QString groupName(int number);
/// True where it is one of ours and the process that made it is gone.
bool isStale(const QString& group);

} // namespace shardscope::app
