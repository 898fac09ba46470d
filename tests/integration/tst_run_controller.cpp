// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "app/remote/board_source.h"
#include "app/remote/local_transport.h"
#include "app/remote/run_controller.h"
#include "tests/integration/sample_stream.h"
#include "tests/integration/scripted_transport.h"

using namespace shardscope;
using namespace app;
using testing::ScriptedTransport;
using Json = nlohmann::ordered_json;
using Script = std::function<void(ScriptedTransport&, const Json&)>;

class TestRunController : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<RunStore> m_store;
    std::unique_ptr<JobRunner> m_jobs;
    std::unique_ptr<RunDocument> m_document;
    std::unique_ptr<RunController> m_controller;
    std::optional<base::Error> m_error;
    bool m_ended = false;

    void make(Script script) {
        m_controller->setTransport([script = std::move(script)] {
            auto transport = std::make_unique<ScriptedTransport>();
            transport->answer = [script](ScriptedTransport& agent, const Json& request) {
                if (request["request"] == "hello")
                    agent.greet(request);
                else
                    script(agent, request);
            };
            return transport;
        });
    }
    void run() {
        RunOrder order;
        order.model = QStringLiteral("model.bin");
        order.audio = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
        order.profile = presetBoard(QStringLiteral("rk3588-16g-emmc")).value();
        QVERIFY(m_controller->start(order).ok());
    }

private slots:
    void init() {
        m_folder = QTemporaryDir();
        m_error.reset();
        m_ended = false;
        m_store = RunStore::open(DataPaths{m_folder.path()}).value();
        m_jobs = std::make_unique<JobRunner>();
        m_document = std::make_unique<RunDocument>();
        m_controller =
            std::make_unique<RunController>(m_store.get(), m_jobs.get(), m_document.get());
        connect(
            m_controller.get(), &RunController::ended, this,
            [this](const std::optional<base::Error>& error) {
                m_error = error;
                m_ended = true;
            });
    }
    void cleanup() {
        m_controller.reset();
        m_document.reset();
        m_jobs.reset();
        m_store.reset();
    }

    void aRunIsShownAndKept() {
        const auto stream = testing::sampleStream(2, false); // agents know no board
        make([&](ScriptedTransport& agent, const Json& request) {
            QCOMPARE(request["request"].get<std::string>(), std::string("run"));
            agent.send(stream.whole());
        });
        run();
        QTRY_VERIFY(m_ended);
        QVERIFY2(!m_error, m_error ? m_error->line().c_str() : "");
        QCOMPARE(m_document->state(), RunState::Done);
        QCOMPARE(m_document->boardName(), QStringLiteral("rk3588-16g-emmc"));
        auto kept = m_store->run(m_document->uuid());
        QVERIFY(kept.ok());
        QCOMPARE(kept->state, RunState::Done);
        QCOMPARE(kept->audio, QStringLiteral("syn-007.wav"));
        // The recording stands by itself: board and all.
        RunDocument again;
        QVERIFY(again.open(m_store->recordingOf(*kept)).ok());
        QCOMPARE(again.state(), RunState::Done);
        QCOMPARE(again.boardName(), QStringLiteral("rk3588-16g-emmc"));
        QCOMPARE(again.trace().events.size(), stream.trace.events.size());
    }

    void anAgentThatDiesLeavesAMarkedRun() {
        const auto stream = testing::sampleStream();
        make([&](ScriptedTransport& agent, const Json&) {
            agent.send(stream.cutAfter(3));
            agent.end(base::Error{
                base::ErrorCode::Failed, "the agent died (signal 9)", "agent",
                "give a smaller --budget"});
        });
        run();
        QTRY_VERIFY(m_ended);
        QVERIFY(m_error);
        QCOMPARE(m_document->state(), RunState::Partial);
        auto kept = m_store->run(m_document->uuid());
        QVERIFY(kept.ok());
        QCOMPARE(kept->state, RunState::Partial);
        QCOMPARE(
            kept->errorLine,
            QStringLiteral("agent: the agent died (signal 9); give a smaller --budget"));
        RunDocument again;
        QVERIFY(again.open(m_store->recordingOf(*kept)).ok());
        QCOMPARE(again.trace().events.size(), std::size_t{192});
    }

    void aRunThatCannotBeKeptStillEndsWell() {
        const auto stream = testing::sampleStream();
        make([&](ScriptedTransport& agent, const Json&) { agent.send(stream.whole()); });
        QSignalSpy failed(m_controller.get(), &RunController::recordingFailed);
        QVERIFY(QDir(m_store->paths().runs()).removeRecursively());
        run();
        QTRY_VERIFY(m_ended);
        QVERIFY(!m_error);
        QCOMPARE(failed.count(), 1);
        QCOMPARE(m_document->state(), RunState::Done);
        QVERIFY(m_store->runs()->isEmpty());
    }

    void aRunThatCannotBeginLeavesNothing() {
        make([](ScriptedTransport& agent, const Json& request) {
            agent.send(Json{
                {"id", request["id"]},
                {"error", {{"code", 4}, {"what", "no model"}, {"where", "m"}, {"mend", "x"}}}});
        });
        run();
        QTRY_VERIFY(m_ended);
        QCOMPARE(m_error->code, base::ErrorCode::BadInput);
        QCOMPARE(m_document->state(), RunState::Failed);
        QVERIFY(m_store->runs()->isEmpty());
        QVERIFY(QDir(m_store->paths().runs()).isEmpty());
    }

    void unreadableAudioNeverReachesTheAgent() {
        bool asked = false;
        make([&](ScriptedTransport&, const Json&) { asked = true; });
        RunOrder order;
        order.model = QStringLiteral("model.bin");
        order.audio = QStringLiteral(RESOURCES_DIR "/clips/README.md");
        QVERIFY(m_controller->start(order).ok());
        QTRY_VERIFY(m_ended);
        QCOMPARE(m_error->code, base::ErrorCode::BadInput);
        QVERIFY(!asked);
        QVERIFY(m_store->runs()->isEmpty());
    }

    void stoppingKeepsWhatWasRecorded() {
        const auto stream = testing::sampleStream();
        make([&](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "run")
                return agent.send(stream.cutAfter(2));
            // "stop": the run ends by its own event, then its result comes.
            trace::Event end;
            end.kind = trace::EventKind::RunEnd;
            end.id = 1;
            std::string bytes;
            trace::appendEvents(bytes, 128, std::span(&end, 1));
            agent.send(Json{{"id", request["id"]}, {"reply", Json::object()}});
            agent.send(bytes + stream.result);
        });
        run();
        QTRY_COMPARE(m_document->trace().events.size(), std::size_t{128});
        m_controller->stop();
        QTRY_VERIFY(m_ended);
        QVERIFY(!m_error);
        QCOMPARE(m_document->state(), RunState::Stopped);
        QCOMPARE(m_store->run(m_document->uuid())->state, RunState::Stopped);
    }

    void oneRunAtATime() {
        make([](ScriptedTransport&, const Json&) {});
        run();
        QCOMPARE(m_controller->start({}).error().code, base::ErrorCode::Usage);
        m_controller->stop();
        QTRY_VERIFY(m_ended);
    }

    void aMissingAgentIsAConnectionError() {
        m_controller->setTransport([] {
            return std::make_unique<LocalTransport>(QStringLiteral("/nowhere/shardscope-agent"));
        });
        run();
        QTRY_VERIFY(m_ended);
        QCOMPARE(m_error->code, base::ErrorCode::Connection);
        QVERIFY(m_store->runs()->isEmpty());
    }

    void aChildThatIsNoAgentIsOneClearError_data() {
        QTest::addColumn<QString>("program");
        QTest::newRow("ends at once") << QStringLiteral("/bin/false");
        QTest::newRow("says its last words") << QStringLiteral("/bin/ls"); // no file `serve`
    }
    void aChildThatIsNoAgentIsOneClearError() {
        QFETCH(QString, program);
        m_controller->setTransport([=] { return std::make_unique<LocalTransport>(program); });
        run();
        QTRY_VERIFY(m_ended);
        QVERIFY(m_error);
        QVERIFY(!m_error->what.empty() && !m_error->mend.empty());
        if (program.endsWith(QLatin1String("ls")))
            QVERIFY2(m_error->what.find("serve") != std::string::npos, m_error->what.c_str());
    }
};

QTEST_GUILESS_MAIN(TestRunController)
#include "tst_run_controller.moc"
