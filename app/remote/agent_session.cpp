// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/agent_session.h"

#include <utility>

#include <QDateTime>
#include <QTimer>

#include "app/replay/run_content.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::chrono::seconds kGreeting{10};

} // namespace

AgentSession::AgentSession(std::unique_ptr<Transport> transport, QObject* parent)
    : QObject(parent), m_transport(std::move(transport)) {
    connect(m_transport.get(), &Transport::phaseChanged, this, &AgentSession::phaseChanged);
    connect(m_transport.get(), &Transport::opened, this, &AgentSession::greet);
    connect(m_transport.get(), &Transport::bytesArrived, this, &AgentSession::take);
    connect(m_transport.get(), &Transport::closed, this, &AgentSession::end);
}

AgentSession::~AgentSession() {
    m_transport->disconnect(this);
}

void AgentSession::start() {
    m_transport->start();
}

void AgentSession::greet() {
    m_greetedAt = QDateTime::currentMSecsSinceEpoch();
    request("hello", {}, kGreeting, [this](const Result<Json>& answer) { takeGreeting(answer); });
}

void AgentSession::takeGreeting(const Result<Json>& answer) {
    if (m_ended)
        return;
    if (!answer) {
        m_reason = Error{
            ErrorCode::Connection, "the agent does not greet: " + answer.error().what,
            target().toStdString(), "check that it is a shardscope-agent of this version"};
        return stop();
    }
    m_agent = *answer;
    const auto protocol = m_agent.find("protocol");
    const int number =
        protocol != m_agent.end() && protocol->is_number_integer() ? protocol->get<int>() : 0;
    if (number != kProtocol) {
        m_reason = Error{
            ErrorCode::Connection,
            "the agent speaks protocol " + std::to_string(number) + ", this program speaks " +
                std::to_string(kProtocol),
            target().toStdString(), "install the agent that came with this program"};
        return stop();
    }
    if (const auto wall = m_agent.find("wall_ms"); wall != m_agent.end() && wall->is_number()) {
        const auto began = static_cast<double>(m_greetedAt);
        const double within =
            (static_cast<double>(QDateTime::currentMSecsSinceEpoch()) - began) / 2;
        m_clockOffset = ClockOffset{wall->get<double>() - began - within, within};
    }
    m_ready = true;
    emit ready();
}

void AgentSession::request(
    const std::string& name, Json parameters, std::chrono::milliseconds deadline, Reply reply) {
    const std::uint64_t id = ++m_lastId;
    Json message{{"id", id}, {"request", name}};
    if (parameters.is_object())
        message.update(parameters);
    Pending pending{name, std::move(reply), nullptr};
    if (deadline.count() > 0) {
        pending.deadline = new QTimer(this);
        pending.deadline->setSingleShot(true);
        connect(pending.deadline, &QTimer::timeout, this, [this, id, name] {
            answer(
                id, Error{
                        ErrorCode::Connection, "no answer to \"" + name + "\" in time",
                        target().toStdString(), "try again"});
        });
        pending.deadline->start(deadline);
    }
    m_pending.emplace(id, std::move(pending));
    if (m_ended) {
        answer(
            id, Error{
                    ErrorCode::Connection, "the connection has ended", target().toStdString(),
                    "connect again"});
        return;
    }
    std::string bytes;
    trace::appendControl(bytes, id, message.dump());
    m_transport->write(QByteArray::fromStdString(bytes));
}

void AgentSession::stop() {
    m_transport->stop();
}

void AgentSession::take(const QByteArray& bytes) {
    m_reader.push({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    while (const auto frame = m_reader.next()) {
        if (frame->kind == trace::FrameKind::Control)
            takeControl(*frame);
        else
            emit runFrame(*frame);
        if (m_ended)
            return;
    }
    if (m_reader.otherVersion() && !m_reason) {
        m_reason = Error{
            ErrorCode::Connection,
            "the agent sends frames of version " + std::to_string(*m_reader.otherVersion()),
            target().toStdString(), "install the agent that came with this program"};
        stop();
    }
}

/// Answers go to whoever asked; a run's header, text and end are also part of its recording.
void AgentSession::takeControl(const trace::Frame& frame) {
    const Json message = trace::parseControl(frame.payload);
    if (!message.is_object())
        return; // an agent of another build: nothing here waits for it
    const auto id = message.find("id");
    // Answers have an id; what has none belongs to the run.
    const bool hasId = id != message.end() && !id->is_null();
    const bool ofRun = !hasId || message.contains("result");
    const std::uint64_t number =
        id != message.end() && id->is_number_unsigned() ? id->get<std::uint64_t>() : 0;
    const auto asked = m_pending.find(number);
    const bool endsRun =
        message.contains("error") && asked != m_pending.end() && asked->second.name == "run";
    if (ofRun || endsRun)
        emit runFrame(frame);
    if (!hasId) {
        if (message.contains("error"))
            emit runEnded(errorFromJson(message["error"]));
        else if (message.contains("result"))
            emit runEnded({});
        return;
    }
    if (message.contains("error"))
        answer(number, errorFromJson(message["error"]));
    else if (message.contains("reply"))
        answer(number, message["reply"]);
    else if (message.contains("result"))
        answer(number, message["result"]);
}

void AgentSession::answer(std::uint64_t id, const Result<Json>& result) {
    const auto found = m_pending.find(id);
    if (found == m_pending.end())
        return; // came after its deadline
    // Moved out first: the callback may ask something new. A timer must not die in its own signal.
    const Pending pending = std::move(found->second);
    m_pending.erase(found);
    if (pending.deadline) {
        pending.deadline->stop();
        pending.deadline->deleteLater();
    }
    if (pending.reply)
        pending.reply(result);
}

void AgentSession::end(const std::optional<Error>& reason) {
    if (std::exchange(m_ended, true))
        return;
    m_ready = false;
    const std::optional<Error> why = m_reason ? m_reason : reason;
    const Error lost = why.value_or(Error{
        ErrorCode::Connection, "the connection was closed", target().toStdString(),
        "connect again"});
    while (!m_pending.empty())
        answer(m_pending.begin()->first, lost);
    emit ended(why);
}

} // namespace shardscope::app
