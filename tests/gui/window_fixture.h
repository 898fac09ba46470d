// SPDX-License-Identifier: GPL-3.0-or-later
// A window over an empty store of its own.
#pragma once

#include <QFile>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include "document_maker.h"
#include "ui/pages/results_page.h"
#include "ui/shell/main_window.h"

namespace shardscope::tests {

struct WindowFixture {
    QTemporaryDir folder;
    ui::UiSettings settings{false};
    ui::Session session{app::DataPaths{folder.path()}};
    ui::MainWindow window{&session, &settings};

    WindowFixture() { window.show(); }

    ui::ResultsPage* results() { return window.resultsPage(); }
    ui::WhatIfPanel* panel() { return results()->whatIfPanel(); }
    app::WhatIf* whatIf() { return session.whatIf(); }
    template <typename T>
    T* find(const char* name) {
        return window.findChild<T*>(QLatin1String(name));
    }

    void planTiny() {
        session.plan(QStringLiteral("card:whisper-tiny.en"), smallBoard());
        QTRY_VERIFY(session.whatIf()->isCurrent());
    }
    /// Writes a run into the store, as an agent's would be kept; its id.
    QString keepRun(base::Bytes budget = base::mebibytes(60)) {
        const QString file = folder.filePath(QStringLiteral("run.sst"));
        QFile out(file);
        if (!out.open(QIODevice::WriteOnly))
            return {};
        out.write(QByteArray::fromStdString(framesOfRun(budget)));
        out.close();
        auto kept = session.store()->import(file);
        return kept ? *kept : QString();
    }
    /// keepRun(), opened and predicted.
    QString openKeptRun() {
        const QString uuid = keepRun();
        session.openRun(uuid);
        const auto isOpen = [this, &uuid] {
            return session.document()->uuid() == uuid && whatIf()->isCurrent() &&
                   whatIf()->baselinePrediction().plan;
        };
        return QTest::qWaitFor(isOpen) ? uuid : QString();
    }
    QSlider* slider(const char* key) {
        return qobject_cast<ui::SliderKnob*>(panel()->control(key))->slider();
    }
};

} // namespace shardscope::tests
