// SPDX-License-Identifier: GPL-3.0-or-later
// The contract of the two executors: one plan gives the same events, in the same order on each
// lane, whether it is run or simulated. Only times differ, and which tokens come out.
#include <QtEndian>
#include <QtTest>

#include "sim_engine/plan/knobs.h"
#include "sim_engine/sim/simulate.h"
#include "tests/integration/engine_run.h"
#include "tests/integration/random_model.h"

using namespace shardscope;
using trace::Event;
using trace::EventKind;
using trace::Lane;

namespace {

/// The events of one lane with all that depends on time or on the audio removed.
std::vector<Event> decisions(const trace::Trace& trace, Lane lane) {
    std::vector<Event> kept;
    for (Event e : trace.events) {
        if (e.lane != lane || e.kind == EventKind::Counter)
            continue;
        e.t_ns = 0;
        if (e.isSpan())
            e.a = 0;
        if (e.kind == EventKind::Token)
            e.id = 0;
        kept.push_back(e);
    }
    return kept;
}

QString told(const Event& e) {
    return QStringLiteral("%1 id %2 a %3 b %4 aux %5")
        .arg(QString::fromUtf8(trace::eventKindName(e.kind).data()))
        .arg(e.id)
        .arg(e.a)
        .arg(e.b)
        .arg(e.aux);
}

} // namespace

class TestRunAndSimulation : public QObject {
    Q_OBJECT
private slots:
    void sameEventsInBoth_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("all resident") << QStringList{};
        QTest::newRow("streamed by layer") << QStringList{"--pin", "none"};
        QTest::newRow("streamed by tensor, on demand")
            << QStringList{"--pin",           "none",   "--decoder-shard", "tensor",
                           "--encoder-shard", "tensor", "--slots",         "1"};
        QTest::newRow("sublayers, three slots")
            << QStringList{"--pin", "none", "--decoder-shard", "sublayer", "--slots", "3"};
        QTest::newRow("budget, pins for tokens") << QStringList{"--budget", "18MiB"};
        QTest::newRow("budget, pins for the run") << QStringList{"--budget", "26MiB"};
        QTest::newRow("lru") << QStringList{"--budget", "24MiB", "--policy", "lru"};
        QTest::newRow("mru") << QStringList{"--budget", "24MiB", "--policy", "mru"};
        QTest::newRow("random") << QStringList{"--budget", "24MiB", "--policy", "random"};
        QTest::newRow("belady") << QStringList{"--budget", "24MiB", "--policy", "belady"};
        QTest::newRow("shared cross KV, q8")
            << QStringList{"--cross-kv", "shared", "--kv", "q8", "--pin", "none"};
        QTest::newRow("mmap") << QStringList{"--loader", "mmap", "--pin", "none"};
        QTest::newRow("populate") << QStringList{"--loader", "populate", "--budget", "20MiB"};
        QTest::newRow("direct") << QStringList{"--loader", "direct", "--pin", "none"};
        QTest::newRow("uring") << QStringList{"--loader", "uring", "--budget", "20MiB"};
        QTest::newRow("beam search") << QStringList{"--beam", "5"};
        QTest::newRow("beam search, streamed by tensor, on demand") << QStringList{
            "--beam", "3", "--pin", "none", "--decoder-shard", "tensor", "--slots", "1"};
        QTest::newRow("beam search, budget, shared cross KV, q8") << QStringList{
            "--beam", "8", "--budget", "24MiB", "--cross-kv", "shared", "--kv", "q8"};
        QTest::newRow("throttled") << QStringList{"--emulate-read", "400MB/s", "--budget", "20MiB"};
    }
    void sameEventsInBoth() {
        QFETCH(QStringList, knobs);
        plan::RunConfig config = tests::configOf({{"--max-tokens", "9"}});
        for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
            QVERIFY(plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()).ok());
        compare(config, tests::sampleClip("syn-000.wav"), 1);
    }

    void sameEventsWhereTheLanguageIsFoundOut_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("all resident") << QStringList{};
        QTest::newRow("streamed") << QStringList{"--pin", "none"};
        QTest::newRow("on demand, by tensor")
            << QStringList{"--pin", "none", "--slots", "1", "--decoder-shard", "tensor"};
        QTest::newRow("a part is pinned") << QStringList{"--pin", "2MB", "--vocab-shards", "9"};
        QTest::newRow("lru") << QStringList{"--pin", "3MB", "--policy", "lru"};
        QTest::newRow("timestamps, one token")
            << QStringList{"--timestamps", "on", "--max-tokens", "1"};
        QTest::newRow("batch") << QStringList{"--batch", "2", "--pin", "none"};
        QTest::newRow("batch of beams") << QStringList{"--batch", "2", "--beam", "3"};
    }
    void sameEventsWhereTheLanguageIsFoundOut() {
        QFETCH(QStringList, knobs);
        const std::string path = m_folder.filePath("multilingual.bin").toStdString();
        QVERIFY(tests::writeRandomModel({.layers = 2}, path).ok());
        plan::RunConfig config = tests::configOf({{"--max-tokens", "5"}, {"--language", "auto"}});
        for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
            QVERIFY(plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()).ok());
        compare(config, longClip(), 2, path);
    }

    void sameEventsOverSeveralWindows() {
        const std::string clip = longClip();
        compare(tests::configOf({{"--max-tokens", "5"}, {"--budget", "22MiB"}}), clip, 2);
        compare(tests::configOf({{"--max-tokens", "5"}}), clip, 2);
        compare(
            tests::configOf({{"--max-tokens", "5"}, {"--batch", "2"}, {"--pin", "none"}}), clip, 2);
        compare(
            tests::configOf({{"--max-tokens", "4"}, {"--batch", "4"}, {"--cross-kv", "shared"}}),
            clip, 2);
        compare(tests::configOf({{"--max-tokens", "5"}, {"--beam", "4"}}), clip, 2);
        compare(
            tests::configOf(
                {{"--max-tokens", "5"}, {"--beam", "3"}, {"--batch", "2"}, {"--pin", "none"}}),
            clip, 2);
    }

private:
    QTemporaryDir m_folder;

    static void compare(
        const plan::RunConfig& config, const std::string& clip, int windows,
        const std::string& model = tests::sampleModel()) {
        const tests::EngineRun run =
            tests::runModel(model, config, clip, [](engine::RunRequest& r) { r.rawGreedy = true; });
        QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
        const trace::Trace simulated = sim::simulate(*run.plan, tests::testBoard(), {0, windows});
        for (const Lane lane : {Lane::Compute, Lane::Io}) {
            const auto measured = decisions(run.trace, lane),
                       predicted = decisions(simulated, lane);
            for (std::size_t i = 0; i < std::min(measured.size(), predicted.size()); ++i)
                if (!(measured[i] == predicted[i]))
                    QFAIL(qPrintable(QStringLiteral("lane %1, event %2: run %3, simulation %4")
                                         .arg(static_cast<int>(lane))
                                         .arg(i)
                                         .arg(told(measured[i]), told(predicted[i]))));
            QCOMPARE(measured.size(), predicted.size());
        }
    }

    /// 40 s of sound: a clip and silence behind it.
    std::string longClip() {
        QFile clip(QString::fromStdString(tests::sampleClip("syn-001.wav")));
        if (!clip.open(QIODevice::ReadOnly))
            return {};
        QByteArray wav = clip.readAll();
        wav.append(QByteArray(40 * 16000 * 2, '\0'));
        const auto patch = [&](int at, quint32 value) { qToLittleEndian(value, wav.data() + at); };
        patch(4, static_cast<quint32>(wav.size() - 8));
        patch(40, static_cast<quint32>(wav.size() - 44));
        QFile out(m_folder.filePath("long.wav"));
        if (!out.open(QIODevice::WriteOnly))
            return {};
        out.write(wav);
        return out.fileName().toStdString();
    }
};

QTEST_GUILESS_MAIN(TestRunAndSimulation)
#include "tst_run_and_simulation.moc"
