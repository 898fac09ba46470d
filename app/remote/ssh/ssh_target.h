// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "sim_engine/base/result.h"

namespace shardscope::app {

/// Where somebody wants to go, as it was written: "pi@10.0.0.7", "ssh://board:2222",
/// "root@[fe80::1]:22". What is left out comes from ~/.ssh/config.
struct SshTarget {
    QString user;     ///< may be empty
    QString host;     ///< a name, an address, or a Host of ~/.ssh/config
    quint16 port = 0; ///< 0: not told

    /// In the form that is parsed.
    QString text() const;
};

/// Whether a `--board` means a machine to reach: it has an "@", or begins with "ssh://".
bool isSshTarget(const QString& board);
/// Usage error where it is none, or holds what no host and no user is called.
base::Result<SshTarget> parseSshTarget(const QString& text);

} // namespace shardscope::app
