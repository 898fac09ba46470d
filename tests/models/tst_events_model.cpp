// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QSignalSpy>
#include <QTest>

#include "ui/models/events_model.h"

using namespace shardscope;
using namespace shardscope::ui;
using trace::Event;
using trace::EventKind;

namespace {

trace::Trace traceOf(std::size_t events) {
    trace::Trace trace;
    trace.legend.ops = {
        {"encoder.0.mlp", model::OpKind::MatMul, 0, 0},
        {"decoder.1.query", model::OpKind::MatVec, 1, 1}};
    trace.legend.shards = {
        {"encoder layer 0", base::Bytes(10), base::Bytes(4096), false},
        {"decoder layer 1", base::Bytes(20), base::Bytes(4096), false}};
    for (std::size_t i = 0; i < events; ++i) {
        Event e;
        e.t_ns = 1000 * i;
        e.id = static_cast<std::uint32_t>(i % 2);
        e.kind = i % 3 == 0 ? EventKind::Read : EventKind::Compute;
        e.a = (i * 7919) % 100'003; // durations in no order
        e.b = 64;
        trace.events.push_back(e);
    }
    return trace;
}

} // namespace

class EventsModelTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".*"))); }

    void keepsTheRulesOfItemModels() {
        trace::Trace trace = traceOf(50);
        EventsModel model;
        QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTrace(&trace);
        const trace::Trace more = traceOf(80);
        trace.events = more.events;
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        model.eventsAppended();
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(model.rowCount(), 80);
        model.sort(EventsModel::Duration, Qt::DescendingOrder);
        model.setFilter({QStringLiteral("decoder"), {}, {}});
        model.setTrace(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void filtersByText_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("rows");
        // Of twelve events four read (shards 0 1 0 1) and eight compute (ops 1 0 0 1 1 0 0 1).
        QTest::newRow("nothing") << QString() << 12;
        QTest::newRow("a kind") << QStringLiteral("read") << 4;
        QTest::newRow("a layer") << QStringLiteral("Decoder") << 6;
        QTest::newRow("an op") << QStringLiteral("mlp") << 4;
        QTest::newRow("none") << QStringLiteral("attic") << 0;
    }

    void filtersByText() {
        QFETCH(QString, text);
        QFETCH(int, rows);
        const trace::Trace trace = traceOf(12);
        EventsModel model;
        model.setTrace(&trace);
        model.setFilter({text, {}, {}});
        QCOMPARE(model.rowCount(), rows);
    }

    void filtersByKindAndTime() {
        const trace::Trace trace = traceOf(12);
        EventsModel model;
        model.setTrace(&trace);
        model.setFilter({{}, EventKind::Read, {}});
        QCOMPARE(model.rowCount(), 4);
        model.setFilter({{}, {}, std::pair(base::Nanos(11'000), base::Nanos(20'000))});
        for (int row = 0; row < model.rowCount(); ++row)
            QVERIFY(model.event(row).end() >= base::Nanos(11'000));
        QVERIFY(model.rowCount() > 0);
    }

    void sortsByDurationAndBack() {
        const trace::Trace trace = traceOf(1000);
        EventsModel model;
        model.setTrace(&trace);
        model.sort(EventsModel::Duration, Qt::DescendingOrder);
        for (int row = 1; row < model.rowCount(); ++row)
            QVERIFY(model.event(row - 1).a >= model.event(row).a);
        model.sort(-1, Qt::AscendingOrder);
        for (int row = 0; row < model.rowCount(); ++row)
            QCOMPARE(model.event(row).t_ns, trace.events[std::size_t(row)].t_ns);
    }

    void writesRowsAsCsv() {
        const trace::Trace trace = traceOf(3);
        EventsModel model;
        model.setTrace(&trace);
        model.setFilter({{}, EventKind::Read, {}});
        QBuffer out;
        QVERIFY(out.open(QIODevice::WriteOnly));
        QVERIFY(writeEventsCsv(model, out));
        QCOMPARE(
            out.data(), QByteArray("t_ns,kind,what,duration_ns,amount,detail\n"
                                   "0,\"read\",\"encoder layer 0\",0,64,\"\"\n"));
    }

    void takesAMillionEvents() {
        const trace::Trace trace = traceOf(1'000'000);
        EventsModel model;
        model.setTrace(&trace);
        QCOMPARE(model.rowCount(), 1'000'000);
        model.sort(EventsModel::Duration, Qt::AscendingOrder);
        model.setFilter({QStringLiteral("decoder"), EventKind::Read, {}});
        QVERIFY(model.rowCount() > 100'000);
        QCOMPARE(
            model.index(0, EventsModel::What).data().toString(), QStringLiteral("decoder layer 1"));
    }
};

QTEST_MAIN(EventsModelTest)
#include "tst_events_model.moc"
