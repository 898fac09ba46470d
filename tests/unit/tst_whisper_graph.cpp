// SPDX-License-Identifier: GPL-3.0-or-later
#include <set>

#include "plan_fixtures.h"
#include "sim_engine/model/whisper_family.h"

using namespace shardscope;
using base::Bytes;
using model::Graph;
using model::GraphOptions;
using model::KvType;
using model::PassKind;
using model::Region;

namespace {

Graph graph(const char* name, const GraphOptions& options = {}) {
    auto built = model::buildGraph(*test::card(name), options);
    if (!built)
        qFatal("%s", built.error().line().c_str());
    return *std::move(built);
}

Bytes regionBytes(const Graph& graph, Region region) {
    Bytes sum;
    for (const model::Buffer& b : graph.buffers)
        if (b.region == region)
            sum += b.bytes;
    return sum;
}

double gflops(const Graph& graph, PassKind pass) {
    double sum = 0;
    for (const base::OpId id : graph.pass(pass).ops)
        sum += graph.op(id).cost.flops;
    return sum * 1e-9;
}

} // namespace

class TestWhisperGraph : public QObject {
    Q_OBJECT

private slots:
    void whatIsReadWasWrittenBefore_data();
    void whatIsReadWasWrittenBefore();
    void everyTensorIsUsed();
    void computesWhatIsPublished_data();
    void computesWhatIsPublished();
    void crossKvTakesWhatIsPublished();
    void optionsChangeTheBuffersTheyName();
    void promptsAreThoseOfTheModel();
    void sharedCrossAttentionKeepsTheEncoderOutputOnce();
};

void TestWhisperGraph::whatIsReadWasWrittenBefore_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("crossKv");
    for (const char* name : {"sample", "tiny", "large-v3-turbo"})
        for (const KvType type : {KvType::F16, KvType::Shared})
            QTest::addRow("%s %s", name, std::string(model::kvTypeName(type)).c_str())
                << name << static_cast<int>(type);
}

void TestWhisperGraph::whatIsReadWasWrittenBefore() {
    QFETCH(QString, name);
    QFETCH(int, crossKv);
    GraphOptions options;
    options.crossKv = static_cast<KvType>(crossKv);
    const Graph g = graph(name.toStdString().c_str(), options);
    QCOMPARE(g.passes.size(), model::kPassCount);
    std::set<std::uint32_t> written;
    // Rows of tables are fetched into their buffer by the executor.
    written.insert(model::whisperBuffer(model::WhisperBuffer::Rows).value);
    for (const PassKind pass : {PassKind::Encode, PassKind::Cross, PassKind::Prefill})
        for (const base::OpId id : g.pass(pass).ops) {
            const model::Op& op = g.op(id);
            std::set<std::uint32_t> now = written;
            for (const base::BufferId b : op.writes)
                now.insert(b.value);
            // Within a decoding step an op may name as read what it fills itself first.
            for (const base::BufferId b : op.reads)
                if (pass == PassKind::Prefill && g.buffer(b).region != Region::CrossKv &&
                    g.buffer(b).region != Region::SelfKv)
                    now.insert(b.value);
            for (const base::BufferId b : op.reads)
                QVERIFY2(now.count(b.value), (op.name + " reads " + g.buffer(b).name).c_str());
            written = std::move(now);
            for (const model::WeightUse& use : op.weights)
                QVERIFY(use.tensor.valid() && use.rowCount > 0);
        }
    QCOMPARE(g.pass(PassKind::Decode).ops.size(), g.pass(PassKind::Prefill).ops.size());
}

void TestWhisperGraph::everyTensorIsUsed() {
    for (const KvType type : {KvType::F16, KvType::Shared}) {
        GraphOptions options;
        options.crossKv = type;
        const Graph g = graph("tiny.en", options);
        const auto card = test::card("tiny.en");
        std::vector<std::int64_t> rows(card->tensors.size());
        for (const model::Op& op : g.ops) {
            for (const model::WeightUse& use : op.weights)
                rows[use.tensor.index()] += use.rowCount;
            QCOMPARE(op.rowReads.size(), op.rowCounts.size());
            for (std::size_t i = 0; i < op.rowReads.size(); ++i)
                if (card->tensor(op.rowReads[i]).name.find("positional") != std::string::npos)
                    rows[op.rowReads[i].index()] += card->tensor(op.rowReads[i]).rows();
        }
        for (std::size_t i = 0; i < rows.size(); ++i)
            QVERIFY2(rows[i] >= card->tensors[i].rows(), card->tensors[i].name.c_str());
    }
}

void TestWhisperGraph::computesWhatIsPublished_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<double>("encodeGflop");
    QTest::newRow("tiny") << "tiny" << 37.0;
    QTest::newRow("base") << "base" << 87.0;
    QTest::newRow("small") << "small" << 344.0;
    QTest::newRow("medium") << "medium" << 1138.0;
    QTest::newRow("large-v3") << "large-v3" << 2274.0;
}

void TestWhisperGraph::computesWhatIsPublished() {
    QFETCH(QString, name);
    QFETCH(double, encodeGflop);
    const Graph g = graph(name.toStdString().c_str());
    const double counted = gflops(g, PassKind::Encode);
    QVERIFY2(std::abs(counted / encodeGflop - 1) < 0.03, qPrintable(QString::number(counted)));
}

void TestWhisperGraph::crossKvTakesWhatIsPublished() {
    // f16, 1500 positions: 9.2 MB for tiny, 245.8 MB for large-v3 (padded to blocks of 16).
    const auto near = [](Bytes bytes, double mb) {
        return std::abs(bytes.real() / 1e6 / mb - 1) < 0.01;
    };
    QVERIFY(near(regionBytes(graph("tiny"), Region::CrossKv), 9.2));
    QVERIFY(near(regionBytes(graph("base"), Region::CrossKv), 18.4));
    QVERIFY(near(regionBytes(graph("large-v3"), Region::CrossKv), 245.8));
    QVERIFY(near(regionBytes(graph("large-v3-turbo"), Region::CrossKv), 30.7));
}

void TestWhisperGraph::optionsChangeTheBuffersTheyName() {
    GraphOptions options;
    const Graph usual = graph("tiny.en");
    options.crossKeep = 0.5;
    QVERIFY(
        std::abs(
            regionBytes(graph("tiny.en", options), Region::CrossKv).real() /
                regionBytes(usual, Region::CrossKv).real() -
            0.5) < 0.01);
    options = {};
    options.maxTokens = 62;
    // 2 + 62 positions are four blocks of 16 of the 15 blocks that 226 positions take.
    QCOMPARE(
        regionBytes(graph("tiny.en", options), Region::SelfKv).value * 15,
        regionBytes(usual, Region::SelfKv).value * 4);
    options = {};
    options.audioPositions = 300;
    QVERIFY(
        gflops(graph("tiny.en", options), PassKind::Encode) < gflops(usual, PassKind::Encode) / 5);
    options = {};
    options.selfKv = KvType::Q8;
    QVERIFY(
        regionBytes(graph("tiny.en", options), Region::SelfKv) <
        regionBytes(usual, Region::SelfKv));
    options = {};
    options.beam = 5;
    QCOMPARE(
        regionBytes(graph("tiny.en", options), Region::SelfKv).value,
        regionBytes(usual, Region::SelfKv).value * 5);
    QCOMPARE(
        regionBytes(graph("tiny.en", options), Region::CrossKv).value,
        regionBytes(usual, Region::CrossKv).value);
    options = {};
    options.threads = 8;
    QVERIFY(
        regionBytes(graph("tiny.en", options), Region::Scratch) >
        regionBytes(usual, Region::Scratch));
}

void TestWhisperGraph::promptsAreThoseOfTheModel() {
    QCOMPARE(graph("tiny.en").promptTokens, 2);
    QCOMPARE(graph("tiny").promptTokens, 4);
    GraphOptions options;
    options.promptTokens = 9;
    QCOMPARE(graph("tiny", options).promptTokens, 9);
    QCOMPARE(graph("tiny", options).mostTokens, 448 - 9 + 1);
    options.promptTokens = 448;
    QCOMPARE(model::buildGraph(*test::card("tiny"), options).error().code, base::ErrorCode::Usage);
}

void TestWhisperGraph::sharedCrossAttentionKeepsTheEncoderOutputOnce() {
    GraphOptions options;
    options.crossKv = KvType::Shared;
    const Graph g = graph("base", options);
    QCOMPARE(regionBytes(g, Region::CrossKv).value, std::int64_t{1500 * 512 * 4});
    QVERIFY(g.pass(PassKind::Cross).ops.empty());
}

QTEST_GUILESS_MAIN(TestWhisperGraph)
#include "tst_whisper_graph.moc"
