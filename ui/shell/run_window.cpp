// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_options.h"

#include <QApplication>
#include <QTimer>

#include "ui/shell/main_window.h"
#include "ui/shell/snapshot.h"

namespace shardscope::ui {

int runWindow(const app::WindowOptions& options) {
    if (!options.snapshotDir.isEmpty())
        return takeSnapshots(options);
    UiSettings settings(true);
    applyChrome(*qobject_cast<QApplication*>(qApp), settings.theme(), settings.fontPoints());
    Session session(options.paths);
    MainWindow window(&session, &settings);
    window.restoreWindow();
    window.show();
    // Once the window is there: a file that cannot be read is told in it.
    QTimer::singleShot(0, &session, [&session, &options] {
        if (options.demo)
            session.runSample();
        else if (!options.file.isEmpty())
            session.openFile(options.file);
        else
            session.measureThisMachine();
    });
    return QApplication::exec();
}

} // namespace shardscope::ui
