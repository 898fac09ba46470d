// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "sim_engine/base/result.h"

namespace shardscope::app {

/// "armhf", "arm64" or "x86_64" for what `uname -m` says; empty for others.
QString agentArchitecture(const QString& machine);

/// The agent program for a board whose `uname -m` is `machine`: a static executable for its
/// processor. Looked for, in this order, as
///   $SHARDSCOPE_AGENTS/ARCH/shardscope-agent
///   for our own processor: $SHARDSCOPE_AGENT, and shardscope-agent beside our own program
///   beside our own program: ../agents/ARCH/, ../share/shardscope/agents/ARCH/
///   $XDG_DATA_HOME/shardscope/agents/ARCH/
///   in a source tree: the build folder of the preset of this name (build/armhf/bin)
/// with ARCH as above. Connection error naming the places where there is none.
base::Result<QString> findAgentFor(const QString& machine);

/// Whether the file is an ELF executable for `architecture`, and what keeps it from running there
/// if not.
base::Status checkAgentFile(const QString& path, const QString& architecture);

} // namespace shardscope::app
