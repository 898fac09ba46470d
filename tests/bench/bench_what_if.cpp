// SPDX-License-Identifier: GPL-3.0-or-later
// From a slider move to the prediction that follows it, with the way to the worker and back.
#include <algorithm>
#include <vector>

#include <QElapsedTimer>
#include <QtTest>

#include "app/remote/board_source.h"
#include "app/replay/what_if.h"
#include "sim_engine/model/card_catalog.h"

using namespace shardscope;

class BenchWhatIf : public QObject {
    Q_OBJECT
private slots:
    void sliderMove_data() {
        QTest::addColumn<QString>("card");
        QTest::addColumn<int>("mebibytes");
        QTest::newRow("tiny.en, 150 tokens") << "card:whisper-tiny.en" << 48;
        QTest::newRow("small, 150 tokens") << "card:whisper-small" << 300;
    }
    void sliderMove() {
        QFETCH(QString, card);
        QFETCH(int, mebibytes);
        app::JobRunner jobs;
        app::WhatIf whatIf(&jobs);
        plan::RunConfig config;
        config.budget = base::mebibytes(mebibytes);
        whatIf.setPlanning(
            std::make_shared<const model::ModelCard>(
                model::catalogCard(card.toStdString()).value()),
            app::presetBoard(QStringLiteral("rk3588-16g-emmc")).value(), config, {150, 1});
        QTRY_VERIFY(whatIf.isCurrent());
        std::vector<double> took;
        for (int move = 0; move < 21; ++move) {
            QTest::qWait(20); // a hand that has rested for a frame
            config.budget = base::mebibytes(mebibytes + (move % 2 ? 8 : 0));
            config.slotCount = 2 + move % 2;
            QElapsedTimer clock;
            clock.start();
            whatIf.setConfig(config);
            while (!whatIf.isCurrent())
                QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            took.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        }
        std::sort(took.begin() + 1, took.end());
        QTest::setBenchmarkResult(took[took.size() / 2], QTest::WalltimeMilliseconds);
        QVERIFY(whatIf.predicted());
    }
};

QTEST_GUILESS_MAIN(BenchWhatIf)
#include "bench_what_if.moc"
