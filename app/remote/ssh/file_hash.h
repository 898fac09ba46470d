// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QByteArray>
#include <QString>

#include "app/remote/ssh/wake.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// SHA-256 of a file, in hex. That of a large file is kept in
/// $XDG_CACHE_HOME/shardscope/hashes.json for as long as its name, size and time stay. BadInput
/// where it cannot be read, Failed where `wake` is cancelled. `progress` is told 0..1. Worker
/// threads.
base::Result<QByteArray>
fileHash(const QString& path, Wake& wake, const std::function<void(double)>& progress);

} // namespace shardscope::app
