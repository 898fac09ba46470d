// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/remote/ssh/ssh_link.h"
#include "app/remote/ssh/ssh_options.h"

namespace shardscope::app {

/// The command that starts the agent's side of the protocol on a board. Runs that outlive their
/// connection are kept in our folder there.
QByteArray serveCommand(const SshOptions& options, const QString& folder, const QString& agent);

/// One request of the protocol.
struct AgentCall {
    std::string request;
    nlohmann::ordered_json parameters;
};

/// Starts the agent on the board, asks, and ends it: an answer for each call, in their order.
/// Connection error when the link fails, Failed when the agent ends before it has answered. Worker
/// threads; where a session is to last, see AgentSession.
base::Result<std::vector<base::Result<nlohmann::ordered_json>>> askAgent(
    SshLink& link, const QByteArray& command, const std::vector<AgentCall>& calls,
    const Deadline& deadline);

} // namespace shardscope::app
