// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QtTest>

#include "app/replay/playback.h"

using namespace shardscope;
using app::Playback;
using base::Nanos;

namespace {

trace::Trace traceAt(std::initializer_list<std::uint64_t> starts) {
    trace::Trace trace;
    for (const std::uint64_t t : starts)
        trace.events.push_back({t, 10, 0, 0, trace::EventKind::Note, trace::Lane::Compute, 0});
    return trace;
}

} // namespace

class TestPlayback : public QObject {
    Q_OBJECT
private slots:
    void movesWithTheClockTimesSpeed() {
        Nanos now(0);
        Playback playback(nullptr, [&] { return now; });
        const auto trace = traceAt({0, 1'000'000'000});
        playback.setTrace(&trace);
        playback.play();
        QVERIFY(playback.isPlaying());
        now = Nanos(200);
        playback.tick();
        QCOMPARE(playback.position().value, 200);
        playback.setSpeed(0.5);
        now = Nanos(400);
        playback.tick();
        QCOMPARE(playback.position().value, 300);
    }

    void stopsAtTheEndAndBeginsAgain() {
        Nanos now(0);
        Playback playback(nullptr, [&] { return now; });
        const auto trace = traceAt({0, 100});
        playback.setTrace(&trace);
        QSignalSpy playing(&playback, &Playback::playingChanged);
        playback.play();
        now = Nanos(5000);
        playback.tick();
        QCOMPARE(playback.position().value, 100);
        QVERIFY(!playback.isPlaying());
        playback.play();
        QCOMPARE(playback.position().value, 0);
        QCOMPARE(playing.count(), 3);
    }

    void stepsFromEventToEvent() {
        Playback playback;
        const auto trace = traceAt({50, 10, 10, 90}); // lanes interleave: not in order
        playback.setTrace(&trace);
        QList<qint64> seen;
        for (const int step : {1, 1, 1, 1, -1, -1, -1, -1}) {
            playback.step(step);
            seen << playback.position().value;
        }
        QCOMPARE(seen, (QList<qint64>{10, 50, 90, 90, 50, 10, 0, 0}));
    }

    void seekStaysWithinTheRun() {
        Playback playback;
        const auto trace = traceAt({0, 70});
        playback.setTrace(&trace);
        playback.seek(Nanos(1000));
        QCOMPARE(playback.position().value, 70);
        playback.seek(Nanos(-5));
        QCOMPARE(playback.position().value, 0);
    }

    void anEmptyRunDoesNotPlay() {
        Playback playback;
        playback.setTrace(nullptr);
        playback.play();
        playback.step(1);
        QVERIFY(!playback.isPlaying());
        QCOMPARE(playback.position().value, 0);
    }
};

QTEST_GUILESS_MAIN(TestPlayback)
#include "tst_playback.moc"
