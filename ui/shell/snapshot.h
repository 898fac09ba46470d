// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/window_options.h"

namespace shardscope::ui {

/// Draws every page, light and dark, into PNG files of the options' size in options.snapshotDir; no
/// display is needed. Style, font, locale and pixel ratio are fixed, so the same data gives the
/// same pictures. The exit status of the program: 0, or 5 where a picture cannot be written.
int takeSnapshots(const app::WindowOptions& options);

} // namespace shardscope::ui
