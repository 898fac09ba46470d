// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "app/store/data_paths.h"

namespace shardscope::app {

/// What the command line asks of the window.
struct WindowOptions {
    QString file;        ///< a recording (.sst), model or audio file to open; empty for none
    QString snapshotDir; ///< render every page to PNG files there and exit; empty for a real window
    int width = 1440, height = 900; ///< of the pictures
    bool demo = false;   ///< run the sample at once
    DataPaths paths;
};

} // namespace shardscope::app

namespace shardscope::ui {

/// Shows the window and runs the event loop of the QApplication, which exists already; the exit
/// status of the program. Written in ui/shell/run_window.cpp.
int runWindow(const app::WindowOptions& options);

} // namespace shardscope::ui
