// SPDX-License-Identifier: GPL-3.0-or-later
// A run on the other side of a link that drops again and again: real agents, kept in a real store.
#include <QDir>
#include <QPointer>
#include <QProcess>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "app/remote/run_controller.h"
#include "sim_engine/plan/knobs.h"

using namespace shardscope;
using namespace app;

namespace {

const QString kModel = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
const QString kClip = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");

/// A child agent behind a link that the test cuts.
class CutLink final : public Transport {
public:
    explicit CutLink(QString spool) : m_spool(std::move(spool)) {
        connect(&m_agent, &QProcess::started, this, &Transport::opened);
        connect(&m_agent, &QProcess::readyReadStandardOutput, this, [this] {
            emit bytesArrived(m_agent.readAllStandardOutput());
        });
        connect(&m_agent, &QProcess::finished, this, [this] { close({}); });
    }
    ~CutLink() override {
        m_agent.disconnect(this);
        m_agent.kill();
        m_agent.waitForFinished();
    }
    void start() override {
        m_agent.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope-agent"),
            {QStringLiteral("serve"), QStringLiteral("--spool"), m_spool});
    }
    void write(const QByteArray& bytes) override { m_agent.write(bytes); }
    void stop() override { m_agent.closeWriteChannel(); }
    QString target() const override { return QStringLiteral("pi@board"); }
    void cut() {
        m_agent.disconnect(this);
        m_agent.kill();
        close(base::Error{
            base::ErrorCode::Connection, "the link dropped", "pi@board", "connect again"});
    }

private:
    void close(const std::optional<base::Error>& reason) {
        if (!std::exchange(m_closed, true))
            emit closed(reason);
    }
    QString m_spool;
    QProcess m_agent;
    bool m_closed = false;
};

} // namespace

class TestReattach : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<RunStore> m_store;
    JobRunner m_jobs;
    RunDocument m_document;
    std::unique_ptr<RunController> m_controller;
    QPointer<CutLink> m_link;
    std::optional<base::Error> m_error;
    int m_links = 0;
    bool m_ended = false;

    QString spool() const { return m_folder.filePath(QStringLiteral("spool")); }
    void start(const char* speed) {
        RunOrder order;
        order.board = QStringLiteral("pi@board");
        order.model = kModel;
        order.audio = kClip;
        QVERIFY(plan::setKnob(order.config, "--pin", "none").ok());
        QVERIFY(plan::setKnob(order.config, "--emulate-read", speed).ok());
        QVERIFY(m_controller->start(order).ok());
    }

private slots:
    void init() {
        m_error.reset();
        m_ended = false;
        m_links = 0;
        m_store = RunStore::open(DataPaths{m_folder.filePath(QStringLiteral("data"))}).value();
        m_controller = std::make_unique<RunController>(m_store.get(), &m_jobs, &m_document);
        m_controller->setTransport([this] {
            ++m_links;
            auto link = std::make_unique<CutLink>(spool());
            m_link = link.get();
            return link;
        });
        m_controller->setOutlivesLink();
        connect(
            m_controller.get(), &RunController::ended, this,
            [this](const std::optional<base::Error>& error) {
                m_error = error;
                m_ended = true;
            });
    }
    void cleanup() {
        m_controller.reset();
        m_store.reset();
        QDir(spool()).removeRecursively();
    }

    void cutsLeaveACompleteRun() {
        start("8MB/s");
        QRandomGenerator random(3);
        std::size_t seen = 0;
        while (!m_ended && m_links < 20) {
            // Cut when something came over this link, or before anything could.
            const bool early = random.bounded(4) == 0;
            if (!early || m_links == 1)
                QTRY_VERIFY_WITH_TIMEOUT(m_ended || m_document.trace().events.size() > seen, 20000);
            seen = m_document.trace().events.size();
            if (m_link && !m_ended)
                m_link->cut();
            const int links = m_links;
            QTRY_VERIFY_WITH_TIMEOUT(m_ended || m_links > links, 20000);
        }
        QTRY_VERIFY_WITH_TIMEOUT(m_ended, 60000);
        QVERIFY2(!m_error, m_error ? m_error->line().c_str() : "");
        QVERIFY(m_links > 5);
        QCOMPARE(m_document.state(), RunState::Done);
        QCOMPARE(
            QString::fromStdString(m_document.result()["text"].get<std::string>()),
            QStringLiteral(" you have eight new messages"));
        QCOMPARE(m_document.trace().dropped, std::uint64_t{0});
        const auto kept = m_store->run(m_document.uuid());
        QVERIFY(kept.ok());
        QCOMPARE(kept->state, RunState::Done);
        RunDocument again;
        QVERIFY(again.open(m_store->recordingOf(*kept)).ok());
        QCOMPARE(again.trace().events.size(), m_document.trace().events.size());
        QTRY_VERIFY(QDir(spool()).isEmpty()); // fetched, so the board keeps nothing
    }

    void aStopOverTheSecondLinkStops() {
        start("1MB/s");
        QTRY_VERIFY_WITH_TIMEOUT(!m_document.trace().events.empty(), 20000);
        m_link->cut();
        QSignalSpy phases(m_controller.get(), &RunController::phaseChanged);
        QTRY_VERIFY_WITH_TIMEOUT(
            std::any_of(
                phases.begin(), phases.end(),
                [](const auto& p) { return p.first().toString() == QStringLiteral("running"); }),
            20000);
        m_controller->stop();
        QTRY_VERIFY_WITH_TIMEOUT(m_ended, 20000);
        QCOMPARE(m_document.state(), RunState::Stopped);
    }

    void aRunThatCannotBeKeptStaysOnTheBoardAndIsFetched() {
        const QString runs = m_store->paths().runs();
        const auto before = m_store->runs()->size();
        QVERIFY(QDir(runs).removeRecursively());
        start("60MB/s");
        QTRY_VERIFY_WITH_TIMEOUT(m_ended, 60000);
        QCOMPARE(m_store->runs()->size(), before);
        QTRY_COMPARE(QDir(spool()).entryList({"*.sst"}).size(), 1);

        QVERIFY(QDir().mkpath(runs));
        m_ended = false;
        RunOrder order;
        order.board = QStringLiteral("pi@board");
        order.spooled = QFileInfo(QDir(spool()).entryList({"*.sst"}).first())
                            .completeBaseName()
                            .toStdString();
        QVERIFY(m_controller->start(order).ok());
        QTRY_VERIFY_WITH_TIMEOUT(m_ended, 20000);
        QVERIFY2(!m_error, m_error ? m_error->line().c_str() : "");
        const auto kept = m_store->run(m_document.uuid());
        QVERIFY(kept.ok());
        QCOMPARE(kept->state, RunState::Done);
        QCOMPARE(kept->audio, QFileInfo(kClip).fileName());
        QTRY_VERIFY(QDir(spool()).isEmpty());
    }

    void aRunThatIsGoneIsOneClearError() {
        start("1MB/s");
        QTRY_VERIFY_WITH_TIMEOUT(!m_document.trace().events.empty(), 20000);
        for (const QString& name : QDir(spool()).entryList(QDir::Files))
            QFile::remove(QDir(spool()).filePath(name));
        m_link->cut();
        QTRY_VERIFY_WITH_TIMEOUT(m_ended, 20000);
        QVERIFY(m_error);
        QVERIFY(QString::fromStdString(m_error->line()).contains(QStringLiteral("swept")));
        QCOMPARE(m_document.state(), RunState::Partial);
    }
};

QTEST_GUILESS_MAIN(TestReattach)
#include "tst_reattach.moc"
