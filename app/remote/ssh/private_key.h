// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "app/remote/ssh/host_key.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// What a key file tells without its passphrase.
struct PrivateKeyFacts {
    HostKey publicKey;      ///< empty where the file does not show it
    bool encrypted = false; ///< it wants a passphrase
    bool isRsa = false;
};

/// BadInput where the file cannot be read or is no private key that we know: OpenSSH's own form
/// (PROTOCOL.key) and PEM. Thread-safe.
base::Result<PrivateKeyFacts> inspectPrivateKey(const QString& path);

} // namespace shardscope::app
