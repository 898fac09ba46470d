// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/agent_call.h"

#include <optional>

#include "app/remote/ssh/ssh_channel.h"
#include "app/replay/run_content.h"
#include "sim_engine/trace/frame.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using Json = nlohmann::ordered_json;

namespace {

class Caller final : public ChannelUser {
public:
    explicit Caller(const std::vector<AgentCall>& calls) : m_answers(calls.size()) {
        std::string bytes;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            Json message{{"id", i + 1}, {"request", calls[i].request}};
            if (calls[i].parameters.is_object())
                message.update(calls[i].parameters);
            trace::appendControl(bytes, i + 1, message.dump());
        }
        m_requests = QByteArray::fromStdString(bytes);
    }

    QByteArrayView toSend() override { return QByteArrayView(m_requests).sliced(m_sent); }
    void sent(qsizetype n) override { m_sent += n; }
    bool sendsNoMore() override { return isComplete(); } // the end of its input would end it
    void take(QByteArrayView bytes) override {
        m_reader.push({bytes.data(), static_cast<std::size_t>(bytes.size())});
        while (const auto frame = m_reader.next())
            if (frame->kind == trace::FrameKind::Control)
                takeAnswer(trace::parseControl(frame->payload));
    }
    void takeErrors(QByteArrayView bytes) override {
        m_errors = (m_errors + bytes.toByteArray()).right(400);
    }

    bool isComplete() const {
        for (const auto& answer : m_answers)
            if (!answer)
                return false;
        return true;
    }
    std::vector<Result<Json>> answers() const {
        std::vector<Result<Json>> all;
        for (const auto& answer : m_answers)
            all.push_back(*answer);
        return all;
    }
    std::string lastWords() const {
        const QByteArray text = m_errors.trimmed();
        return text.mid(text.lastIndexOf('\n') + 1).toStdString();
    }

private:
    void takeAnswer(const Json& message) {
        if (!message.is_object())
            return;
        const auto id = message.find("id");
        if (id == message.end() || !id->is_number_unsigned())
            return;
        const auto number = id->get<std::uint64_t>();
        if (number < 1 || number > m_answers.size())
            return;
        if (message.contains("reply"))
            m_answers[number - 1].emplace(message["reply"]);
        else if (message.contains("error"))
            m_answers[number - 1].emplace(errorFromJson(message["error"]));
    }

    QByteArray m_requests, m_errors;
    qsizetype m_sent = 0;
    trace::FrameReader m_reader;
    std::vector<std::optional<Result<Json>>> m_answers;
};

} // namespace

QByteArray serveCommand(const SshOptions& options, const QString& folder, const QString& agent) {
    QByteArray command = "exec";
    for (const QString& word : options.prefix)
        command += ' ' + shellQuoted(word);
    return command + ' ' + shellQuoted(agent) + " serve --spool " +
           shellQuoted(folder + QStringLiteral("/runs"));
}

Result<std::vector<Result<Json>>> askAgent(
    SshLink& link, const QByteArray& command, const std::vector<AgentCall>& calls,
    const Deadline& deadline) {
    auto channel = SshChannel::start(link, command, deadline);
    if (!channel)
        return channel.error();
    Caller caller(calls);
    auto end = (*channel)->pump(caller, deadline);
    if (!end)
        return end.error();
    if (caller.isComplete())
        return caller.answers();
    std::string what = "the agent does not answer";
    if (!caller.lastWords().empty())
        what += ", its last words: " + caller.lastWords();
    return Error{
        ErrorCode::Failed, what, link.name().toStdString(),
        end->status == 126 ? "programs may not run from that folder: name another with --folder"
                           : "run it on the board by hand: " + command.toStdString()};
}

} // namespace shardscope::app
