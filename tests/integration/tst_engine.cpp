// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtEndian>
#include <QtTest>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/knobs.h"
#include "tests/integration/engine_run.h"

using namespace shardscope;

class TestEngine : public QObject {
    Q_OBJECT
private slots:
    void transcribesTheSampleClips_data() {
        QTest::addColumn<QString>("clip");
        QTest::addColumn<QString>("text");
        QFile list(RESOURCES_DIR "/clips/transcripts.tsv");
        QVERIFY(list.open(QIODevice::ReadOnly));
        for (const QByteArray& line : list.readAll().split('\n')) {
            const auto fields = QString::fromUtf8(line).split('\t');
            if (fields.size() >= 3)
                QTest::newRow(qPrintable(fields[0])) << fields[0] << fields[2];
        }
    }
    void transcribesTheSampleClips() {
        QFETCH(QString, clip);
        QFETCH(QString, text);
        const auto run = tests::runSample({}, tests::sampleClip(qPrintable(clip)));
        QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
        QCOMPARE(QString::fromStdString(run.text).trimmed(), text);
    }

    void agreesWithTheExactNumbers_data() {
        QTest::addColumn<QByteArray>("kv");
        QTest::addColumn<QByteArray>("crossKv");
        QTest::addColumn<double>("allowed"); // max |difference| of a logit
        QTest::newRow("f32") << QByteArray("f32") << QByteArray("f32") << 1e-4;
        QTest::newRow("shared") << QByteArray("f32") << QByteArray("shared") << 1e-4;
        QTest::newRow("f16") << QByteArray("f16") << QByteArray("f16") << 2e-2;
        QTest::newRow("q8") << QByteArray("q8") << QByteArray("q8") << 0.5;
    }
    void agreesWithTheExactNumbers() {
        QFETCH(QByteArray, kv);
        QFETCH(QByteArray, crossKv);
        QFETCH(double, allowed);
        for (const char* name : {"syn-000", "syn-007"}) {
            const std::string logitsFile = path("logits"), encoderFile = path("encoder"),
                              melFile = path("mel");
            const auto config = tests::configOf(
                {{"--kv", kv.constData()},
                 {"--cross-kv", crossKv.constData()},
                 {"--max-tokens", "6"}});
            const auto run = tests::runSample(
                config, tests::sampleClip((std::string(name) + ".wav").c_str()), [&](auto& r) {
                    r.rawGreedy = true;
                    r.dumpLogits = logitsFile;
                    r.dumpEncoder = encoderFile;
                    r.dumpMel = melFile;
                });
            QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
            const std::string golden = std::string(TEST_DATA_DIR "/sample/") + name;
            QVERIFY(
                every(16, tests::floatsOf(logitsFile), 51864, golden + ".logits_every16.f32") <=
                allowed);
            QVERIFY(
                everyRow(50, tests::floatsOf(encoderFile), 192, golden + ".enc_every50.f32") <=
                1e-4);
            QCOMPARE(tests::floatsOf(melFile).size(), std::size_t{80 * 3000});
        }
    }

    void shardingChangesNoBit_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("on demand, by tensor")
            << QStringList{"--decoder-shard", "tensor", "--encoder-shard", "tensor",
                           "--pin",           "none",   "--slots",         "1"};
        QTest::newRow("sublayers") << QStringList{"--decoder-shard", "sublayer", "--pin", "none"};
        QTest::newRow("two layers, pread")
            << QStringList{"--decoder-shard", "2", "--pin", "none", "--loader", "pread"};
        QTest::newRow("mmap, seven pieces of vocabulary")
            << QStringList{"--loader", "mmap", "--vocab-shards", "7", "--pin", "none"};
        QTest::newRow("populate, three slots")
            << QStringList{"--loader", "populate", "--slots", "3", "--pin", "none"};
        QTest::newRow("direct") << QStringList{"--loader", "direct", "--pin", "none"};
        QTest::newRow("uring") << QStringList{"--loader", "uring", "--pin", "none"};
        QTest::newRow("uring, tensors, budget")
            << QStringList{"--loader", "uring", "--budget", "18MiB", "--decoder-shard", "tensor"};
        QTest::newRow("budget") << QStringList{"--budget", "18MiB"};
        QTest::newRow("lru") << QStringList{"--budget", "20MiB", "--policy", "lru"};
        for (const char* budget : {"8400KiB", "8800KiB", "9500KiB"})
            QTest::addRow("tight, %s", budget) << QStringList{"--budget", budget};
        for (const char* budget : {"7200KiB", "7500KiB", "8MiB"})
            QTest::addRow("tight, by tensor, %s", budget)
                << QStringList{"--budget",        budget,   "--encoder-shard", "tensor",
                               "--decoder-shard", "tensor", "--slots",         "1"};
        QTest::newRow("one thread") << QStringList{"--threads", "1"};
        QTest::newRow("three threads") << QStringList{"--threads", "3"};
    }
    void shardingChangesNoBit() {
        QFETCH(QStringList, knobs);
        static const std::vector<float> reference = logitsWith({});
        QCOMPARE(reference.size(), std::size_t{4 * 51864});
        const std::vector<float> changed = logitsWith(knobs);
        QCOMPARE(changed.size(), reference.size());
        QVERIFY(
            std::memcmp(changed.data(), reference.data(), reference.size() * sizeof(float)) == 0);
    }

    void aBatchOfWindowsGivesTheSameTokensForFewerBytes_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("cross KV of its own") << QStringList{"--pin", "none"};
        QTest::newRow("shared") << QStringList{"--pin",  "none", "--cross-kv",
                                               "shared", "--kv", "q8"};
    }
    void aBatchOfWindowsGivesTheSameTokensForFewerBytes() {
        QFETCH(QStringList, knobs);
        const std::string clip = twoClips();
        QVERIFY(!clip.empty());
        const auto apart = tests::runSample(configFrom(knobs), clip);
        const auto together =
            tests::runSample(configFrom(knobs + QStringList{"--batch", "3"}), clip);
        QVERIFY2(
            together.status.ok(),
            together.status.ok() ? "" : together.status.error().line().c_str());
        for (std::uint64_t window : {0u, 1u})
            QVERIFY(tokensOf(apart, window) == tokensOf(together, window));
        QVERIFY(
            analyze::summarise(together.trace).bytesRead <
            analyze::summarise(apart.trace).bytesRead);
    }

    void stopsWhenAsked() {
        std::atomic<bool> stop{false};
        std::thread asker([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            stop.store(true);
        });
        const auto run = tests::runSample(
            tests::configOf(
                {{"--max-tokens", "400"}, {"--emulate-read", "20MB/s"}, {"--pin", "none"}}),
            tests::sampleClip("syn-000.wav"), [&](auto& r) {
                r.rawGreedy = true;
                r.stop = &stop;
            });
        asker.join();
        QVERIFY(run.status.ok());
        QVERIFY(run.tokens.size() < 400);
        QVERIFY(run.trace.complete);
        QCOMPARE(run.trace.events.back().kind, trace::EventKind::RunEnd);
    }

    void throttledReadsTakeTheirTime() {
        const auto run = tests::runSample(
            tests::configOf(
                {{"--emulate-read", "100MB/s"}, {"--pin", "none"}, {"--max-tokens", "3"}}),
            tests::sampleClip("syn-000.wav"));
        QVERIFY(run.status.ok());
        const auto s = analyze::summarise(run.trace);
        QVERIFY(s.readMs >= static_cast<double>(s.bytesRead) / 100e6 * 1e3 * 0.99);
    }

    void refusesWhatItCannotDo_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("language to find out") << QStringList{"--language", "auto"};
        QTest::newRow("language") << QStringList{"--language", "de"};
    }
    void refusesWhatItCannotDo() {
        QFETCH(QStringList, knobs);
        const auto run = tests::runSample(configFrom(knobs), tests::sampleClip("syn-000.wav"));
        QVERIFY(!run.status.ok());
        QCOMPARE(run.status.error().code, base::ErrorCode::Usage);
    }

private:
    QTemporaryDir m_folder;

    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    static std::vector<std::uint32_t> tokensOf(const tests::EngineRun& run, std::uint64_t window) {
        std::vector<std::uint32_t> tokens;
        for (const trace::Event& e : run.trace.events)
            if (e.kind == trace::EventKind::Token && e.b == window)
                tokens.push_back(e.id);
        return tokens;
    }

    /// Two clips, the second 30 s after the first: a window each.
    std::string twoClips() const {
        QByteArray wav, second;
        for (QByteArray* bytes : {&wav, &second}) {
            QFile file(QString::fromStdString(
                tests::sampleClip(bytes == &wav ? "syn-001.wav" : "syn-007.wav")));
            if (!file.open(QIODevice::ReadOnly))
                return {};
            *bytes = file.readAll();
        }
        constexpr int kHeader = 44, kWindowBytes = 30 * 16000 * 2;
        wav.append(QByteArray(kHeader + kWindowBytes - wav.size(), '\0') + second.mid(kHeader));
        qToLittleEndian(static_cast<quint32>(wav.size() - 8), wav.data() + 4);
        qToLittleEndian(static_cast<quint32>(wav.size() - kHeader), wav.data() + 40);
        QFile out(m_folder.filePath("two.wav"));
        if (!out.open(QIODevice::WriteOnly))
            return {};
        out.write(wav);
        return out.fileName().toStdString();
    }

    static plan::RunConfig configFrom(const QStringList& knobs) {
        plan::RunConfig config;
        for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
            if (!plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()))
                qFatal("impossible knob");
        return config;
    }

    std::vector<float> logitsWith(const QStringList& knobs) const {
        plan::RunConfig config = configFrom(knobs);
        config.maxTokens = 4;
        const std::string file = path("bits");
        const auto run = tests::runSample(config, tests::sampleClip("syn-003.wav"), [&](auto& r) {
            r.rawGreedy = true;
            r.dumpLogits = file;
        });
        return run.status.ok() ? tests::floatsOf(file) : std::vector<float>{};
    }

    /// Largest difference between every n-th column of `values` and a golden file of such columns.
    static double every(
        std::size_t n, const std::vector<float>& values, std::size_t width,
        const std::string& golden) {
        const std::vector<float> expected = tests::floatsOf(golden);
        const std::size_t columns = (width + n - 1) / n;
        double worst = expected.empty() ? 1e9 : 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t at = i / columns * width + i % columns * n;
            worst = std::max(
                worst, at < values.size() ? std::abs(double{values[at]} - expected[i]) : 1e9);
        }
        return worst;
    }
    static double everyRow(
        std::size_t n, const std::vector<float>& values, std::size_t width,
        const std::string& golden) {
        const std::vector<float> expected = tests::floatsOf(golden);
        double worst = expected.empty() ? 1e9 : 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t at = i / width * n * width + i % width;
            worst = std::max(
                worst, at < values.size() ? std::abs(double{values[at]} - expected[i]) : 1e9);
        }
        return worst;
    }
};

QTEST_GUILESS_MAIN(TestEngine)
#include "tst_engine.moc"
