// SPDX-License-Identifier: GPL-3.0-or-later
// Beam search by real runs: against a plain search over logits that come from runs of their own,
// and the same for every way to hold weights and caches.
#include <QtEndian>
#include <QtTest>

#include <atomic>
#include <map>
#include <thread>

#include "device_agent/engine/audio/mel.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/analyze/token_bars.h"
#include "sim_engine/plan/knobs.h"
#include "tests/integration/engine_run.h"
#include "tests/integration/random_model.h"
#include "tests/unit/plain_beam_search.h"

using namespace shardscope;
using test::Text;

namespace {

constexpr tokenizer::Token kSot = 50257, kNoTimestamps = 50362, kSpace = 220;

plan::RunConfig configFrom(const QStringList& knobs) {
    plan::RunConfig config;
    for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
        if (!plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()))
            qFatal("impossible knob");
    return config;
}

/// What each window says, and how its steps were told.
struct Told {
    std::map<std::uint64_t, Text> tokens;
    std::map<std::uint64_t, std::size_t> steps;
};

Told toldBy(const trace::Trace& trace) {
    Told told;
    for (const trace::Event& e : trace.events) {
        if (e.kind == trace::EventKind::Token) {
            Text& text = told.tokens[e.b];
            if (e.a != text.size())
                qFatal("tokens out of order");
            text.push_back(static_cast<tokenizer::Token>(e.id));
        } else if (e.kind == trace::EventKind::Step) {
            if (e.a != told.steps[e.b]++)
                qFatal("steps out of order");
        }
    }
    return told;
}

} // namespace

class TestBeams : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        for (std::uint32_t seed = 1; seed <= kModels; ++seed)
            QVERIFY(tests::writeRandomModel(
                        {.vocab = 51864, .layers = 2, .seed = seed, .timestampScale = 1.2f},
                        modelPath(seed))
                        .ok());
        tests::writeLongClip(clip(), m_folder.filePath("long.wav"));
    }

    void findsWhatAPlainSearchFinds_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<bool>("timestamps");
        for (const int width : {2, 3, 8}) {
            QTest::addRow("text, %d", width) << width << false;
            QTest::addRow("timestamps, %d", width) << width << true;
        }
    }
    void findsWhatAPlainSearchFinds() {
        QFETCH(int, width);
        QFETCH(bool, timestamps);
        constexpr std::size_t kMost = 7;
        for (std::uint32_t seed = 1; seed <= kModels; ++seed) {
            const auto run = tests::runModel(
                modelPath(seed),
                configFrom(
                    kShort +
                    QStringList{
                        "--beam", QString::number(width), "--max-tokens", QString::number(kMost),
                        "--timestamps", timestamps ? "on" : "off"}),
                clip());
            QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
            std::map<Text, test::Logits> known;
            const test::PlainSearch plain{
                timestamps ? engine::Picking::Timestamps : engine::Picking::Text,
                static_cast<std::size_t>(width), kMost, clipFrames(), kSpace};
            const Text wanted = plain.run([&](const Text& text) {
                auto& logits = known[text];
                if (logits.empty())
                    logits = logitsAfter(seed, timestamps, text);
                return logits;
            });
            QCOMPARE(toldBy(run.trace).tokens.at(0), wanted);
        }
    }

    void theWayOfTheRunChangesNoToken_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("streamed by tensor, on demand")
            << QStringList{"--pin", "none", "--slots", "1", "--decoder-shard", "tensor"};
        QTest::newRow("one piece of vocabulary") << QStringList{"--vocab-shards", "1"};
        QTest::newRow("many pieces") << QStringList{"--vocab-shards", "611"};
        QTest::newRow("one thread") << QStringList{"--threads", "1"};
        QTest::newRow("three threads") << QStringList{"--threads", "3"};
        QTest::newRow("mmap") << QStringList{"--loader", "mmap", "--pin", "none"};
        QTest::newRow("direct") << QStringList{"--loader", "direct", "--pin", "none"};
        QTest::newRow("uring, lru")
            << QStringList{"--loader", "uring", "--pin", "2MB", "--policy", "lru"};
        QTest::newRow("windows together") << QStringList{"--batch", "2"};
        QTest::newRow("windows together, streamed")
            << QStringList{"--batch", "2", "--pin", "none", "--slots", "3"};
    }
    void theWayOfTheRunChangesNoToken() {
        QFETCH(QStringList, knobs);
        for (const QStringList& kind :
             {QStringList{}, QStringList{"--timestamps", "on"},
              QStringList{"--cross-kv", "shared", "--kv", "q8"},
              QStringList{"--cross-kv", "q4", "--kv", "q4", "--cross-keep", "0.5"}}) {
            const QStringList common =
                kind + QStringList{"--beam", "5", "--max-tokens", "24", "--audio-ctx", "200"};
            const auto usual = run(2, common), changed = run(2, common + knobs);
            QVERIFY2(
                changed.status.ok(),
                changed.status.ok() ? "" : changed.status.error().line().c_str());
            const Told a = toldBy(usual.trace), b = toldBy(changed.trace);
            QCOMPARE(b.tokens, a.tokens);
            QCOMPARE(b.steps, a.steps);
            QCOMPARE(b.tokens.size(), std::size_t{2});
            const auto s = analyze::summarise(changed.trace);
            QCOMPARE(s.arenaPeak, changed.plan->peak.value);
        }
    }

    void aStepIsTheBarOfItsTokenOrOfNone() {
        const auto r = run(1, {"--beam", "4", "--max-tokens", "40", "--audio-ctx", "200"});
        QVERIFY(r.status.ok());
        analyze::TokenBars bars;
        for (const trace::Event& e : r.trace.events)
            bars.add(e);
        Told told = toldBy(r.trace);
        std::map<std::uint64_t, Text> named;
        for (const analyze::TokenBar& bar : bars.bars()) {
            QVERIFY(bar.total() > 0 && bar.compute > 0);
            if (bar.token != analyze::kNoToken)
                named[bar.window].push_back(static_cast<tokenizer::Token>(bar.token));
        }
        QCOMPARE(bars.bars().size(), told.steps[0] + told.steps[1]);
        QCOMPARE(named, told.tokens);
    }

    void transcribesTheSampleClips() {
        QFile list(RESOURCES_DIR "/clips/transcripts.tsv");
        QVERIFY(list.open(QIODevice::ReadOnly));
        int clips = 0;
        for (const QByteArray& line : list.readAll().split('\n')) {
            const QList<QByteArray> fields = line.split('\t');
            if (fields.size() < 3)
                continue;
            const auto r = tests::runSample(
                configFrom({"--beam", "5"}), tests::sampleClip(fields[0].constData()));
            QVERIFY2(r.status.ok(), r.status.ok() ? "" : r.status.error().line().c_str());
            QCOMPARE(QByteArray::fromStdString(r.text).trimmed(), fields[2]);
            ++clips;
        }
        QVERIFY(clips > 0);
    }

    void severalBeamsFindOtherTextsThanOne() {
        int others = 0;
        for (std::uint32_t seed = 1; seed <= kModels; ++seed) {
            const QStringList common = kShort + QStringList{"--max-tokens", "6"};
            const auto greedy = tests::runModel(modelPath(seed), configFrom(common), clip());
            const auto beams = tests::runModel(
                modelPath(seed), configFrom(common + QStringList{"--beam", "8"}), clip());
            QVERIFY(greedy.status.ok() && beams.status.ok());
            others += toldBy(greedy.trace).tokens != toldBy(beams.trace).tokens;
        }
        QVERIFY(others > 0);
    }

    void aRunThatIsStoppedLeavesTheTextSoFar() {
        std::atomic<bool> stop{false};
        std::thread asker([&] {
            std::this_thread::sleep_for(std::chrono::seconds(1));
            stop.store(true);
        });
        const auto r = tests::runSample(
            configFrom(
                {"--max-tokens", "400", "--beam", "3", "--emulate-read", "200MB/s", "--pin", "none",
                 "--audio-ctx", "100"}),
            clip(), [&](engine::RunRequest& q) {
                q.rawGreedy = true;
                q.stop = &stop;
            });
        asker.join();
        QVERIFY(r.status.ok());
        const Told told = toldBy(r.trace);
        const std::size_t steps = told.steps.empty() ? 0 : told.steps.at(0);
        QVERIFY(steps < 400);
        if (steps > 1)
            QCOMPARE(told.tokens.at(0).size(), steps);
        QCOMPARE(r.trace.events.back().kind, trace::EventKind::RunEnd);
    }

    void logitsOfBeamsAreNotDumped() {
        const auto r = tests::runModel(
            modelPath(1), configFrom({"--beam", "2"}), clip(),
            [&](engine::RunRequest& q) { q.dumpLogits = path("logits"); });
        QVERIFY(!r.status.ok());
        QCOMPARE(r.status.error().code, base::ErrorCode::Usage);
    }

private:
    static constexpr std::uint32_t kModels = 3;
    static inline const QStringList kShort{"--audio-ctx", "96"};
    QTemporaryDir m_folder;

    static tokenizer::Token clipFrames() {
        constexpr qint64 kHeader = 44, kSampleBytes = 2;
        const qint64 samples =
            (QFileInfo(QString::fromStdString(clip())).size() - kHeader) / kSampleBytes;
        return static_cast<tokenizer::Token>(audio::MelFrontEnd::lengthFrames(samples));
    }
    static std::string clip() { return tests::sampleClip("syn-001.wav"); }
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }
    std::string modelPath(std::uint32_t seed) const {
        return path(QStringLiteral("%1.bin").arg(seed));
    }
    tests::EngineRun run(std::uint32_t seed, const QStringList& knobs) const {
        return tests::runModel(modelPath(seed), configFrom(knobs), path("long.wav"));
    }

    /// What a run with this text as its prompt says next.
    test::Logits logitsAfter(std::uint32_t seed, bool timestamps, const Text& text) const {
        const std::string file = path("logits");
        const auto run = tests::runModel(
            modelPath(seed), configFrom(kShort + QStringList{"--max-tokens", "1"}), clip(),
            [&](engine::RunRequest& r) {
                r.promptIds = {kSot};
                if (!timestamps)
                    r.promptIds.push_back(kNoTimestamps);
                r.promptIds.insert(r.promptIds.end(), text.begin(), text.end());
                r.rawGreedy = true;
                r.dumpLogits = file;
            });
        return run.status.ok() ? tests::floatsOf(file) : test::Logits{};
    }
};

QTEST_GUILESS_MAIN(TestBeams)
#include "tst_beams.moc"
