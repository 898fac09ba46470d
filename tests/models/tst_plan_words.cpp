// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of a plan, of errors, and of a run against its prediction.
#include <QAbstractItemModelTester>
#include <QSet>
#include <QTest>

#include "../unit/plan_fixtures.h"
#include "sim_engine/plan/knobs.h"
#include "ui/models/figures.h"
#include "ui/models/plan_story.h"
#include "ui/models/prediction_model.h"

using namespace shardscope;
using namespace shardscope::ui;

namespace {

plan::RunConfig with(std::initializer_list<std::pair<const char*, const char*>> knobs) {
    plan::RunConfig config;
    for (const auto& [flag, value] : knobs)
        if (!plan::setKnob(config, flag, value))
            qFatal("%s %s", flag, value);
    return config;
}

PlanStory storyOf(const plan::RunConfig& config) {
    return planStory(test::planned(test::card("tiny.en"), config), config, test::board());
}

QString valueOf(const std::vector<PlanFact>& facts, const char* name) {
    for (const PlanFact& fact : facts)
        if (fact.name == QLatin1String(name))
            return fact.value;
    return {};
}

QString cell(const PredictionModel& model, int row, PredictionModel::Column column) {
    return model.index(row, column).data().toString();
}

} // namespace

class PlanWordsTest : public QObject {
    Q_OBJECT

private slots:
    void eachLoadedShardIsToldOnceWithAReason() {
        const plan::RunConfig config = with({{"--budget", "40MiB"}});
        const plan::Plan plan = test::planned(test::card("tiny.en"), config);
        QSet<QString> told;
        for (const PlanDecision& decision : storyOf(config).loads) {
            QVERIFY(!decision.reason.isEmpty());
            for (const QString& line : decision.details) {
                const QString name = line.section(u'\t', 0, 0);
                QVERIFY2(!told.contains(name), qPrintable(name));
                told.insert(name);
            }
        }
        std::size_t loaded = 0;
        for (const plan::Shard& shard : plan.shards)
            loaded += told.contains(QString::fromStdString(shard.name)) ? 1 : 0;
        QCOMPARE(loaded, static_cast<std::size_t>(told.size()));
        QVERIFY(loaded > 5);
    }

    void whatDiffersFromTheDefaultsIsToldAsFlags() {
        const PlanStory story = storyOf(with({{"--budget", "40MiB"}, {"--kv", "q8"}}));
        const QString settings = valueOf(story.inputs, "Settings");
        QVERIFY(settings.contains(QStringLiteral("--budget 40MiB")));
        QVERIFY(settings.contains(QStringLiteral("--kv q8")));
        QVERIFY(!settings.contains(QStringLiteral("--slots")));
    }

    void whatFitsIsSaidToStreamNothing() {
        const PlanStory story = storyOf({});
        QVERIFY(valueOf(story.settled, "A token reads").startsWith(QStringLiteral("nothing")));
        QVERIFY(story.evictions.empty());
    }

    void evictionsNameTheirRule() {
        const PlanStory story = storyOf(with({{"--budget", "48MiB"}, {"--policy", "lru"}}));
        QVERIFY(!story.evictions.empty());
        QVERIFY(story.evictions.front().reason.contains(QStringLiteral("LRU")));
        QVERIFY(story.evictions.front().amount.endsWith(QStringLiteral("a token")));
    }

    void figuresHaveKeysOfTheirOwnAndErrorsFindThem() {
        QSet<QString> keys;
        for (const Figure& figure : whatIfFigures({}, 0)) {
            QVERIFY(!figure.key.isEmpty() && !keys.contains(figure.key));
            keys.insert(figure.key);
        }
        PredictionErrors errors;
        QVERIFY(!errors.of(QStringLiteral("total_ms")));
        errors.figures[QStringLiteral("total_ms")] = {0.03, 0.09};
        QCOMPARE(errors.of(QStringLiteral("total_ms"))->p90, 0.09);
    }

    void aPhaseIsMeasuredPredictedAndBounded() {
        PredictionModel model;
        const QAbstractItemModelTester tester(&model);
        analyze::RunLimits limits;
        analyze::Limits& decode = limits.passes[3];
        decode = {200, 150, 180, 20, 10, 25};
        limits.decodeSteps = 10;
        limits.run = decode;
        analyze::RunLimits predicted = limits;
        predicted.passes[3].took = predicted.run.took = 190;
        analyze::Summary measured, other;
        measured.arenaPeak = other.arenaPeak = 1 << 20;
        model.setFacts({measured, limits, other, predicted});
        QCOMPARE(cell(model, 0, PredictionModel::Measured), QStringLiteral("20.0 ms"));
        QCOMPARE(cell(model, 0, PredictionModel::Predicted), QStringLiteral("19.0 ms"));
        QCOMPARE(cell(model, 0, PredictionModel::OffBy), QStringLiteral("\u22125.0 %"));
        QCOMPARE(cell(model, 0, PredictionModel::Floor), QStringLiteral("18.0 ms"));
        QCOMPARE(cell(model, 0, PredictionModel::BoundBy), QStringLiteral("I/O bound"));
        QCOMPARE(cell(model, 0, PredictionModel::Gap), QStringLiteral("+11 %"));
        QVERIFY(boundSentence(limits).startsWith(QStringLiteral("Decoding is I/O bound")));
    }

    void readsFasterThanTheStorageCameFromACache() {
        analyze::RunLimits limits;
        limits.passes[3] = {100, 50, 180, 20, 10, 25};
        limits.run = limits.passes[3];
        QCOMPARE(boundBadge(limits), QStringLiteral("I/O bound, from cache"));
        limits.passes[3].took = 179; // rates are measured, too
        QCOMPARE(boundBadge(limits), QStringLiteral("I/O bound, at the floor"));
    }

    void aRunWithoutAPredictionShowsWhatWasMeasured() {
        PredictionModel model;
        analyze::Summary measured;
        measured.firstTokenMs = 12;
        model.setFacts({measured, {}, {}, {}});
        QCOMPARE(cell(model, 0, PredictionModel::Phase), QStringLiteral("First token"));
        QCOMPARE(cell(model, 0, PredictionModel::Measured), QStringLiteral("12.0 ms"));
        QVERIFY(cell(model, 0, PredictionModel::Predicted).isEmpty());
    }
};

QTEST_MAIN(PlanWordsTest)
#include "tst_plan_words.moc"
