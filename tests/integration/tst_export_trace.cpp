// SPDX-License-Identifier: GPL-3.0-or-later
#include <QBuffer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "app/replay/export_trace.h"
#include "tests/integration/sample_stream.h"

using namespace shardscope;
using app::ExportFormat;

class TestExportTrace : public QObject {
    Q_OBJECT

    static QByteArray exported(const trace::Trace& trace, ExportFormat format) {
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        if (const auto status = app::writeTrace(trace, format, "tiny \"on\" a\nboard", buffer);
            !status)
            qFatal("%s", status.error().line().c_str());
        return buffer.data();
    }

private slots:
    void perfettoHoldsEverySpanAndCounter() {
        const auto stream = testing::sampleStream();
        QJsonParseError error;
        const auto document =
            QJsonDocument::fromJson(exported(stream.trace, ExportFormat::Perfetto), &error);
        QCOMPARE(error.error, QJsonParseError::NoError);
        QHash<QString, qsizetype> phases;
        double computeUs = 0;
        qint64 readBytes = 0, peak = 0;
        QHash<QString, qint64> arena;
        for (const QJsonValue& value : document[QStringLiteral("traceEvents")].toArray()) {
            const QJsonObject e = value.toObject();
            const QString name = e[QStringLiteral("name")].toString();
            ++phases[e[QStringLiteral("ph")].toString()];
            const QJsonObject args = e[QStringLiteral("args")].toObject();
            if (e[QStringLiteral("cat")].toString() == QLatin1String("compute"))
                computeUs += e[QStringLiteral("dur")].toDouble();
            if (e[QStringLiteral("cat")].toString() == QLatin1String("read"))
                readBytes += args[QStringLiteral("bytes")].toInteger();
            if (name.startsWith(QLatin1String("arena: "))) {
                arena[name] = args[QStringLiteral("bytes")].toInteger();
                qint64 sum = 0;
                for (const qint64 used : std::as_const(arena)) {
                    QVERIFY2(used >= 0, qPrintable(name));
                    sum += used;
                }
                peak = std::max(peak, sum);
            }
        }
        qsizetype spans = 0;
        double expectedUs = 0;
        for (const trace::Event& e : stream.trace.events) {
            spans += e.isSpan();
            if (e.kind == trace::EventKind::Compute)
                expectedUs += static_cast<double>(e.a) * 1e-3;
        }
        QCOMPARE(phases[QStringLiteral("X")], spans);
        QCOMPARE(phases[QStringLiteral("M")], qsizetype(1 + trace::kLaneCount));
        QVERIFY(std::abs(computeUs - expectedUs) < 1e-6 * expectedUs);
        QCOMPARE(readBytes, stream.summary.bytesRead);
        QVERIFY(peak > 0 && peak <= stream.plan->peak.value);
    }

    void csvHasALineForEveryEvent() {
        const auto stream = testing::sampleStream();
        const QList<QByteArray> lines =
            exported(stream.trace, ExportFormat::Csv).trimmed().split('\n');
        QCOMPARE(lines.size(), qsizetype(stream.trace.events.size()) + 1);
        QCOMPARE(lines[0].split(',').size(), 12);
        qint64 readBytes = 0;
        for (const QByteArray& line : lines.mid(1)) {
            const QList<QByteArray> cells = line.split(',');
            QVERIFY2(cells.size() >= 12, line.constData());
            if (cells[2] == "read")
                readBytes += cells[8].toLongLong();
        }
        QCOMPARE(readBytes, stream.summary.bytesRead);
    }

    void anEmptyTraceIsStillADocument() {
        const auto document =
            QJsonDocument::fromJson(exported(trace::Trace(), ExportFormat::Perfetto));
        QVERIFY(document.isObject());
        QCOMPARE(exported(trace::Trace(), ExportFormat::Csv).count('\n'), 1);
    }
};

QTEST_GUILESS_MAIN(TestExportTrace)
#include "tst_export_trace.moc"
