// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/remote/ssh/ssh_link.h"

namespace shardscope::app {

/// The public half of a private key file: its own where it shows it, else NAME.pub beside it, as a
/// line of authorized_keys. BadInput where there is none.
base::Result<QByteArray> publicKeyLine(const QString& privateKey);

/// Puts a public key on the board, so that the next login needs no password: a line at the end of
/// ~/.ssh/authorized_keys unless it is there. True: it was new. Failed with the board's own words.
/// Worker threads.
base::Result<bool> authorizeKey(SshLink& link, const QByteArray& line);

} // namespace shardscope::app
