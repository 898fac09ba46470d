// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QtTest>

#include "app/remote/agent_session.h"
#include "tests/integration/sample_stream.h"
#include "tests/integration/scripted_transport.h"

using namespace shardscope;
using namespace std::chrono_literals;
using app::AgentSession;
using testing::ScriptedTransport;
using Json = nlohmann::ordered_json;

class TestAgentSession : public QObject {
    Q_OBJECT

    std::unique_ptr<AgentSession> m_session;
    ScriptedTransport* m_agent = nullptr;

    void make(std::function<void(ScriptedTransport&, const Json&)> script) {
        auto transport = std::make_unique<ScriptedTransport>();
        m_agent = transport.get();
        m_agent->answer = std::move(script);
        m_session = std::make_unique<AgentSession>(std::move(transport));
    }

private slots:
    void greetsAndAnswersById() {
        QList<int> order;
        Json held;
        make([&](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "hello")
                return agent.greet(request);
            if (held.is_null()) {
                held = request["id"]; // answered after the second
                return;
            }
            agent.send(Json{{"id", request["id"]}, {"reply", {{"n", 2}}}});
            agent.send(Json{{"id", held}, {"reply", {{"n", 1}}}});
        });
        QSignalSpy ready(m_session.get(), &AgentSession::ready);
        m_session->start();
        QTRY_COMPARE(ready.count(), 1);
        QCOMPARE(m_session->agent()["arch"].get<std::string>(), std::string("test"));
        for (int i = 1; i <= 2; ++i)
            m_session->request("inspect", {}, 0ms, [&order, i](const base::Result<Json>& r) {
                QVERIFY(r.ok());
                QCOMPARE((*r)["n"].get<int>(), i);
                order << i;
            });
        QTRY_COMPARE(order, (QList<int>{2, 1}));
    }

    void skipsWhatStandsBeforeTheFirstFrame() {
        make([](ScriptedTransport& agent, const Json& request) {
            agent.send(std::string("Welcome to the board!\r\nSSF\r\n"));
            agent.greet(request);
        });
        QSignalSpy ready(m_session.get(), &AgentSession::ready);
        m_session->start();
        QTRY_COMPARE(ready.count(), 1);
    }

    void handsOnTheErrorOfTheAgent() {
        make([](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "hello")
                return agent.greet(request);
            agent.send(Json{
                {"id", request["id"]},
                {"error",
                 {{"code", 3}, {"what", "too big"}, {"where", "--budget"}, {"mend", "more"}}}});
        });
        m_session->start();
        QTRY_VERIFY(m_session->isReady());
        std::optional<base::Error> error;
        m_session->request("run", {}, 0ms, [&](const base::Result<Json>& r) {
            QVERIFY(!r.ok());
            error = r.error();
        });
        QTRY_VERIFY(error);
        QCOMPARE(error->code, base::ErrorCode::DoesNotFit);
        QCOMPARE(error->line(), std::string("--budget: too big; more"));
    }

    void anotherProtocolEndsTheSession() {
        make([](ScriptedTransport& agent, const Json& request) {
            agent.send(Json{{"id", request["id"]}, {"reply", {{"protocol", 7}}}});
        });
        std::optional<base::Error> why;
        connect(
            m_session.get(), &AgentSession::ended, this,
            [&](const std::optional<base::Error>& e) { why = e; });
        m_session->start();
        QTRY_VERIFY(why);
        QCOMPARE(why->code, base::ErrorCode::Connection);
        QVERIFY(why->what.find("protocol 7") != std::string::npos);
    }

    void aDeadlineAnswersForTheSilent() {
        make([](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "hello")
                agent.greet(request);
        });
        m_session->start();
        QTRY_VERIFY(m_session->isReady());
        int answers = 0;
        m_session->request("inspect", {}, 1ms, [&](const base::Result<Json>& r) {
            QVERIFY(!r.ok());
            QCOMPARE(r.error().code, base::ErrorCode::Connection);
            ++answers;
        });
        QTRY_COMPARE(answers, 1);
        m_agent->send(Json{{"id", 2}, {"reply", Json::object()}}); // too late
        QTest::qWait(1);
        QCOMPARE(answers, 1);
    }

    void everythingPendingFailsWhenTheAgentDies() {
        make([](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "hello")
                return agent.greet(request);
            agent.end(base::Error{base::ErrorCode::Failed, "the agent died", "agent", "again"});
        });
        m_session->start();
        QTRY_VERIFY(m_session->isReady());
        int failed = 0;
        const auto count = [&](const base::Result<Json>& r) {
            QVERIFY(!r.ok());
            QCOMPARE(r.error().what, std::string("the agent died"));
            ++failed;
        };
        m_session->request("inspect", {}, 0ms, count);
        m_session->request("probe", {}, 10s, count);
        QTRY_VERIFY(m_session->hasEnded());
        QCOMPARE(failed, 2);
        m_session->request("inspect", {}, 0ms, [&](const base::Result<Json>& r) {
            QVERIFY(!r.ok()); // after the end at once
            ++failed;
        });
        QCOMPARE(failed, 3);
    }

    void aConnectionThatCannotBeOpenedEndsWithItsReason() {
        make([](ScriptedTransport&, const Json&) {});
        m_agent->opens = false;
        std::optional<base::Error> why;
        connect(
            m_session.get(), &AgentSession::ended, this,
            [&](const std::optional<base::Error>& e) { why = e; });
        m_session->start();
        QTRY_VERIFY(why);
        QCOMPARE(why->what, std::string("no route"));
    }

    void framesOfARunComeInOrder() {
        const auto stream = testing::sampleStream(2);
        make([&](ScriptedTransport& agent, const Json& request) {
            if (request["request"] == "hello")
                return agent.greet(request);
            // In pieces that cut frames anywhere.
            const std::string bytes = stream.whole();
            for (std::size_t at = 0; at < bytes.size(); at += 1000)
                agent.send(bytes.substr(at, 1000));
        });
        std::size_t controls = 0, events = 0;
        connect(m_session.get(), &AgentSession::runFrame, this, [&](const trace::Frame& frame) {
            frame.kind == trace::FrameKind::Control ? ++controls : events += frame.eventCount();
        });
        m_session->start();
        QTRY_VERIFY(m_session->isReady());
        bool done = false;
        m_session->request("run", {}, 0ms, [&](const base::Result<Json>& r) { done = r.ok(); });
        QTRY_VERIFY(done);
        QCOMPARE(controls, std::size_t{3}); // header, text, result
        QCOMPARE(events, stream.trace.events.size());
    }
};

QTEST_GUILESS_MAIN(TestAgentSession)
#include "tst_agent_session.moc"
