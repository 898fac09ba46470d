// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace shardscope::app {

/// Runs the sample without a window, keeps the run, and prints what was heard, the figures, and the
/// prediction beside them. The exit status; `recording` gets the path of the kept recording.
int runDemo(QString* recording = nullptr);

} // namespace shardscope::app
