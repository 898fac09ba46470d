// SPDX-License-Identifier: GPL-3.0-or-later
// Any audio file becomes what the agent hears: 16 kHz mono WAV (libsndfile, soxr).
#pragma once

#include <QString>

#include "app/jobs/job_runner.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

inline constexpr int kModelRate = 16000; ///< Hz

/// Whether the agent takes this file as it is: WAV, 16 kHz, mono, 16-bit or float samples. BadInput
/// where it is missing or no audio that can be read.
base::Result<bool> isModelAudio(const QString& path);

/// Writes `source` as 16 kHz mono float WAV to `target`, by a temporary name and a rename. BadInput
/// where the source cannot be read or is empty, Failed where the target cannot be written or the
/// job was cancelled. Thread-safe.
base::Status convertAudio(const QString& source, const QString& target, JobControl& job);

/// The file to give to the agent: `path` itself, or its conversion in `folder`, which is made once
/// for a file of this name, size and time. Errors of the above. Thread-safe.
base::Result<QString> modelAudio(const QString& path, const QString& folder, JobControl& job);

} // namespace shardscope::app
