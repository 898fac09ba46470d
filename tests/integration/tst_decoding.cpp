// SPDX-License-Identifier: GPL-3.0-or-later
// Timestamps and language detection by real runs of small random models.
#include <QtEndian>
#include <QtTest>

#include <cmath>

#include "sim_engine/plan/knobs.h"
#include "tests/integration/engine_run.h"
#include "tests/integration/random_model.h"

using namespace shardscope;

namespace {

constexpr tokenizer::Token kEot = 50257, kSot = 50258, kTime0 = 50364, kVocab = 51865;

plan::RunConfig configFrom(const QStringList& knobs) {
    plan::RunConfig config;
    for (qsizetype i = 0; i + 1 < knobs.size(); i += 2)
        if (!plan::setKnob(config, knobs[i].toStdString(), knobs[i + 1].toStdString()))
            qFatal("impossible knob");
    return config;
}

} // namespace

class TestDecoding : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        for (std::uint32_t seed = 1; seed <= kModels; ++seed) {
            tests::RandomModel model;
            model.seed = seed;
            model.layers = 2;
            model.timestampScale = 1.2f;
            QVERIFY(tests::writeRandomModel(model, modelPath(seed)).ok());
        }
        tests::writeLongClip(tests::sampleClip("syn-001.wav"), m_folder.filePath("long.wav"));
    }

    void findsTheLanguageThatIsBestAfterTheStart() {
        QStringList found;
        for (std::uint32_t seed = 1; seed <= kModels; ++seed) {
            const std::string file = m_folder.filePath("logits").toStdString();
            const auto start = run(seed, {"--max-tokens", "1"}, [&](engine::RunRequest& r) {
                r.promptIds = {kSot};
                r.rawGreedy = true;
                r.dumpLogits = file;
            });
            QVERIFY2(
                start.status.ok(), start.status.ok() ? "" : start.status.error().line().c_str());
            const auto logits = tests::floatsOf(file);
            QCOMPARE(logits.size(), std::size_t{2 * kVocab}); // of two windows: the first decides
            const auto first = logits.begin() + kSot + 1,
                       best = std::max_element(first, first + 99);
            double sum = 0;
            for (auto x = first; x != first + 99; ++x)
                sum += std::exp(double{*x} - double{*best});

            const auto detected = run(seed, {"--language", "auto", "--max-tokens", "2"});
            QVERIFY(detected.status.ok());
            QVERIFY(detected.language.has_value());
            QCOMPARE(detected.language->id, static_cast<int>(best - first));
            QVERIFY(std::abs(detected.language->probability - 1 / sum) < 1e-12);
            found << codeOf(detected);
        }
        found.removeDuplicates();
        QVERIFY(found.size() > 1);
    }

    void goesOnAsIfTheLanguageHadBeenGiven_data() {
        QTest::addColumn<QStringList>("knobs");
        QTest::newRow("all resident") << QStringList{};
        QTest::newRow("streamed") << QStringList{"--pin", "none"};
        QTest::newRow("streamed on demand, by tensor")
            << QStringList{"--pin", "none", "--slots", "1", "--decoder-shard", "tensor"};
        QTest::newRow("a part is pinned") << QStringList{"--pin", "2MB", "--vocab-shards", "9"};
        QTest::newRow("lru") << QStringList{"--pin", "3MB", "--policy", "lru"};
        QTest::newRow("belady") << QStringList{"--pin", "3MB", "--policy", "belady"};
        QTest::newRow("shared cross KV") << QStringList{"--cross-kv", "shared", "--pin", "none"};
        QTest::newRow("batch") << QStringList{"--batch", "2", "--pin", "none"};
        QTest::newRow("timestamps") << QStringList{"--timestamps", "on", "--pin", "2MB"};
        QTest::newRow("mmap") << QStringList{"--loader", "mmap", "--pin", "none"};
    }
    void goesOnAsIfTheLanguageHadBeenGiven() {
        QFETCH(QStringList, knobs);
        knobs << "--max-tokens"
              << "12";
        const auto found = run(2, knobs + QStringList{"--language", "auto"});
        QVERIFY2(found.status.ok(), found.status.ok() ? "" : found.status.error().line().c_str());
        const auto given = run(2, knobs + QStringList{"--language", codeOf(found)});
        QVERIFY(given.status.ok());
        QVERIFY(!given.language);
        QVERIFY(found.tokens.size() > 12); // two windows
        QCOMPARE(found.tokens, given.tokens);
        QCOMPARE(found.plan->peak.value, given.plan->peak.value);
    }

    void vocabularyShardsChangeNoTimestamp() {
        std::size_t times = 0;
        for (std::uint32_t seed = 1; seed <= kModels; ++seed) {
            const QStringList knobs{"--timestamps", "on", "--max-tokens", "60"};
            const auto whole = run(seed, knobs + QStringList{"--vocab-shards", "1"});
            QVERIFY2(
                whole.status.ok(), whole.status.ok() ? "" : whole.status.error().line().c_str());
            for (const char* shards : {"2", "33", "1000"})
                QCOMPARE(
                    run(seed, knobs + QStringList{"--vocab-shards", shards}).tokens, whole.tokens);
            QCOMPARE(run(seed, knobs + QStringList{"--batch", "2"}).text, whole.text);
            checkRules(whole.trace, times);
        }
        QVERIFY2(times > 10, qPrintable(QString::number(times)));
    }

    void refusesALanguageForAPromptThatIsGiven() {
        const auto status = engine::promptTokensFor(
            *run(1, {"--max-tokens", "1"}).plan->card, configFrom({"--language", "auto"}), {kSot});
        QVERIFY(!status);
        QCOMPARE(status.error().code, base::ErrorCode::Usage);
    }

    void refusesLanguagesThatWhisperDoesNotKnow() {
        const auto r = run(1, {"--language", "xx"});
        QVERIFY(!r.status.ok());
        QCOMPARE(r.status.error().code, base::ErrorCode::Usage);
    }

private:
    static constexpr std::uint32_t kModels = 3;
    QTemporaryDir m_folder;

    std::string modelPath(std::uint32_t seed) const {
        return m_folder.filePath(QStringLiteral("%1.bin").arg(seed)).toStdString();
    }
    tests::EngineRun
    run(std::uint32_t seed, const QStringList& knobs,
        const std::function<void(engine::RunRequest&)>& change = {}) const {
        return tests::runModel(
            modelPath(seed), configFrom(knobs), m_folder.filePath("long.wav").toStdString(),
            change);
    }
    static QString codeOf(const tests::EngineRun& r) {
        const auto code = tokenizer::Vocabulary::languageCode(r.language->id);
        return QString::fromUtf8(code.data(), static_cast<qsizetype>(code.size()));
    }

    /// Pairs, never back in time, and a begin within the first second, in each window.
    static void checkRules(const trace::Trace& trace, std::size_t& times) {
        std::vector<std::vector<tokenizer::Token>> windows(2);
        for (const trace::Event& e : trace.events)
            if (e.kind == trace::EventKind::Token)
                windows.at(e.b).push_back(static_cast<tokenizer::Token>(e.id));
        for (const auto& tokens : windows) {
            QVERIFY(!tokens.empty());
            QVERIFY(tokens[0] < kEot || (tokens[0] >= kTime0 && tokens[0] <= kTime0 + 50));
            tokenizer::Token latest = kTime0;
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                const auto isTime = [&](std::size_t at) { return tokens[at] >= kTime0; };
                QVERIFY(isTime(i) || tokens[i] <= kEot);
                if (!isTime(i))
                    continue;
                ++times;
                QVERIFY(tokens[i] >= latest);
                latest = tokens[i];
                if (i > 1)
                    QVERIFY(!(isTime(i - 1) && isTime(i - 2)));
                if (i > 0 && !isTime(i - 1) && i + 1 < tokens.size())
                    QVERIFY(isTime(i + 1) || tokens[i + 1] == kEot);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestDecoding)
#include "tst_decoding.moc"
