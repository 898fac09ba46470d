// SPDX-License-Identifier: GPL-3.0-or-later
// What the verbs that reach boards share: flags, and a person at a terminal.
#pragma once

#include <vector>

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_options.h"
#include "sim_engine/base/args.h"

namespace shardscope::app {

/// --identity, --accept-new-host, --folder.
const std::vector<base::Flag>& sshFlags();
SshOptions sshOptionsFrom(const base::Args& args);

/// Asks what a connection wants to know on the terminal of this program; nothing is asked where
/// there is none. New hosts are never accepted in passing: that takes the flag.
void askOnTerminal(QuestionBox& questions);

/// A line about what is going on, over the last one, where standard error is a terminal.
void showPhase(const QString& phase);
/// Takes it away again.
void clearPhase();

} // namespace shardscope::app
