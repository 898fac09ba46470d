// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/run_link.h"

#include <algorithm>
#include <utility>

#include <QPointer>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::chrono::seconds kStopPatience{5};
constexpr std::chrono::seconds kAnswer{15};
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{10'000};

const char* const kFiles[] = {"model", "audio"};

QString fileOf(const RunLink::Json& request, const char* key) {
    return QString::fromStdString(request.at(key).get<std::string>());
}

} // namespace

RunLink::RunLink(OpenTransport open, QObject* parent) : QObject(parent), m_open(std::move(open)) {
    m_again.setSingleShot(true);
    connect(&m_again, &QTimer::timeout, this, &RunLink::open);
}

RunLink::~RunLink() {
    releaseSession();
}

void RunLink::start(Json request) {
    m_request = std::move(request);
    open();
}

void RunLink::takeUp(std::string runId) {
    m_runId = std::move(runId);
    m_outlives = true;
    m_isTakenUp = true;
    open();
}

void RunLink::open() {
    auto transport = m_open();
    if (m_runId.empty())
        transport->bring({fileOf(m_request, kFiles[0]), fileOf(m_request, kFiles[1])});
    // A sibling, not a child: it says goodbye when we have gone.
    m_session = new AgentSession(std::move(transport), parent());
    connect(m_session, &AgentSession::phaseChanged, this, [this](const QString& phase) {
        if (!m_lost) // a way back has one word for all of it
            emit phaseChanged(phase);
    });
    connect(m_session, &AgentSession::ready, this, [this] {
        m_clockOffset = m_session->clockOffset();
        m_runId.empty() ? order() : attach();
    });
    connect(m_session, &AgentSession::runFrame, this, &RunLink::take);
    connect(m_session, &AgentSession::runEnded, this, [this](const std::optional<Error>& error) {
        m_isWhole = true;
        finish(error);
    });
    connect(m_session, &AgentSession::ended, this, &RunLink::loseSession);
    m_session->start();
}

/// The answer counts while this lives, the run goes on, and the connection it came over stands.
void RunLink::ask(
    const std::string& name, Json parameters, std::chrono::milliseconds deadline,
    AgentSession::Reply reply) {
    const QPointer<RunLink> self(this);
    const QPointer<AgentSession> session(m_session);
    m_session->request(
        name, std::move(parameters), deadline,
        [self, session, reply = std::move(reply)](const Result<Json>& answer) {
            if (self && !self->m_over && session && session == self->m_session &&
                !session->hasEnded())
                reply(answer);
        });
}

void RunLink::order() {
    emit phaseChanged(tr("running"));
    Json request = m_request;
    for (const char* key : kFiles)
        request[key] = m_session->pathThere(fileOf(m_request, key)).toStdString();
    if (m_outlives)
        request["spool"] = true;
    ask("run", request, {}, [this](const Result<Json>& answer) {
        if (!answer)
            return finish(answer.error());
        if (!m_outlives)
            return finish({}); // that was its result
        if (const auto id = answer->find("run_id"); id != answer->end() && id->is_string())
            m_runId = id->get<std::string>();
        m_wasThere = true;
    });
}

void RunLink::attach() {
    const Json from{{"run_id", m_runId}, {"from", m_received}};
    ask("attach", from, kAnswer, [this](const Result<Json>& answer) {
        if (!answer && answer.error().code == ErrorCode::Connection)
            return loseSession(answer.error()); // no answer in time is no word about the run
        if (!answer)
            return finish(answer.error());
        m_wasThere = true;
        m_tries = 0;
        m_lost = false;
        emit lossChanged(false);
        emit phaseChanged(tr("running"));
        if (m_stopAsked)
            askToStop();
    });
}

void RunLink::take(const trace::Frame& frame) {
    if (m_over)
        return;
    if (!m_runId.empty())
        m_received += trace::kFrameHeaderBytes + frame.payload.size();
    emit frameArrived(frame);
}

void RunLink::loseSession(const std::optional<Error>& why) {
    if (m_over)
        return;
    const bool neverCame = !m_wasThere;
    if (!m_lost && !neverCame)
        m_sinceLoss.start();
    if (neverCame || m_session->isDistrusted() || m_sinceLoss.elapsed() >= m_patience.count())
        return finish(why.value_or(
            Error{ErrorCode::Failed, "the agent ended before the run did", "run", "run it again"}));
    releaseSession();
    if (!std::exchange(m_lost, true))
        emit lossChanged(true);
    const auto pause = std::min(kFirstPause * (1 << std::min(m_tries, 10)), kLongestPause);
    ++m_tries;
    emit phaseChanged(
        tr("connection lost, the run goes on there; try %1 to reach it").arg(m_tries));
    m_again.start(pause);
}

void RunLink::stop() {
    if (m_over)
        return;
    const bool again = std::exchange(m_stopAsked, true);
    if (m_runId.empty() && (!m_session || !m_session->isReady()))
        return finish(Error{ErrorCode::Failed, "stopped before the run began", "run", ""});
    if (again && m_lost)
        return finish(Error{
            ErrorCode::Connection, "given up while the connection was lost", "run",
            "the run ends by itself on the board"});
    if (!m_lost && !again)
        askToStop();
}

void RunLink::askToStop() {
    emit phaseChanged(tr("stopping"));
    ask("stop", {}, kStopPatience, [this](const Result<Json>& answer) {
        if (!answer)
            finish(answer.error()); // what was recorded so far stays, as a partial run
    });
}

void RunLink::finish(const std::optional<Error>& error) {
    if (std::exchange(m_over, true))
        return;
    m_again.stop();
    if (std::exchange(m_lost, false))
        emit lossChanged(false);
    const QPointer<RunLink> self(this);
    emit ended(error); // it is kept now, or leaveThere() was called
    if (!self)
        return;
    // Nobody would come back for a run of ours that broke off; one that was taken up waits on.
    const bool isOver = m_isWhole || !m_isTakenUp;
    if (isOver && !m_leaves && !m_runId.empty() && m_session && m_session->isReady())
        m_session->request("forget", {{"run_id", m_runId}}, kAnswer, {});
    releaseSession();
}

/// It deletes itself when it has gone.
void RunLink::releaseSession() {
    if (!m_session)
        return;
    AgentSession* session = std::exchange(m_session, nullptr);
    session->disconnect(this);
    if (session->hasEnded())
        return session->deleteLater();
    connect(session, &AgentSession::ended, session, &QObject::deleteLater);
    session->stop();
}

} // namespace shardscope::app
