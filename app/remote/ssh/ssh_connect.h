// SPDX-License-Identifier: GPL-3.0-or-later
// From an address to a connection with somebody who is known; ssh_login.h follows. Worker threads.
#pragma once

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_link.h"
#include "app/remote/ssh/ssh_options.h"

namespace shardscope::app {

/// Connects and agrees on keys; nothing about the other side is believed yet.
base::Result<std::unique_ptr<SshLink>>
openLink(const SshRoute& route, const SshOptions& options, std::shared_ptr<Wake> wake);

/// Believes the host by known_hosts, the user's and our own; a new one by `acceptNewHost` or a
/// person, and remembers it. A changed or revoked key is never accepted. On success: a line about
/// it. Connection error that shows the fingerprints.
base::Result<QString>
trustHost(SshLink& link, const SshRoute& route, const SshOptions& options, SshQuestions& questions);

} // namespace shardscope::app
