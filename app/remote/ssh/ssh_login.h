// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_link.h"
#include "app/remote/ssh/ssh_options.h"

namespace shardscope::app {

/// Logs in by what the server offers, in its order; of the keys the chosen one comes first, then
/// those of the agent, since servers allow few tries. What a person types is asked for by
/// `questions`, used once, and kept nowhere. On success: how it was done, for a line of a log
/// ("key /home/me/.ssh/id_ed25519"). Connection error that names what was tried. Worker threads.
base::Result<QString>
logIn(SshLink& link, const SshRoute& route, const SshOptions& options, SshQuestions& questions);

} // namespace shardscope::app
