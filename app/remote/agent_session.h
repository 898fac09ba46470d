// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <QObject>

#include <nlohmann/json.hpp>

#include "app/remote/transport.h"
#include "sim_engine/base/result.h"
#include "sim_engine/trace/frame.h"

class QTimer;

namespace shardscope::app {

/// The clock of the agent's machine against ours.
struct ClockOffset {
    double aheadMs = 0;  ///< below 0: behind
    double withinMs = 0; ///< how far that may be off: half of the time of the greeting
};

/// Speaks the protocol of `shardscope-agent serve` over a transport: requests with ids, each with
/// one answer, and between them the frames of a run. GUI thread only.
class AgentSession : public QObject {
    Q_OBJECT
public:
    using Json = nlohmann::ordered_json;
    using Reply = std::function<void(const base::Result<Json>&)>;

    /// The protocol that this program speaks; another one ends the session with a clear error.
    static constexpr int kProtocol = 1;

    explicit AgentSession(std::unique_ptr<Transport> transport, QObject* parent = nullptr);
    ~AgentSession() override;

    /// Opens the stream and greets; ready() or ended() follows.
    void start();
    bool isReady() const { return m_ready; }
    bool hasEnded() const { return m_ended; }
    bool isDistrusted() const { return m_transport->isDistrusted(); }
    QString target() const { return m_transport->target(); }
    /// How the agent calls a file of this machine that its transport brought.
    QString pathThere(const QString& file) const { return m_transport->pathThere(file); }
    /// As the greeting has shown; none from agents that do not tell their time.
    std::optional<ClockOffset> clockOffset() const { return m_clockOffset; }
    /// The answer to the greeting: {"version", "protocol", "pid", "arch"}.
    const Json& agent() const { return m_agent; }

    /// Sends {"id", "request": name, ...parameters}. `reply` is called once: with the answer, with
    /// the agent's error, with an error when the deadline passes (0: none) or when the session
    /// ends.
    void request(
        const std::string& name, Json parameters, std::chrono::milliseconds deadline, Reply reply);
    /// Ends the stream; ended() follows.
    void stop();

signals:
    /// What the transport is doing until it is ready.
    void phaseChanged(const QString& phase);
    void ready();
    /// A frame that belongs to a run. The views in it are valid during the signal only.
    void runFrame(const shardscope::trace::Frame& frame);
    /// The stream of a run that was started with "spool" has come to its end.
    void runEnded(const std::optional<shardscope::base::Error>& error);
    /// Once: the stream is over. `reason` tells why, if it was not asked for.
    void ended(const std::optional<shardscope::base::Error>& reason);

private:
    struct Pending {
        std::string name;
        Reply reply;
        QTimer* deadline = nullptr; ///< a child of the session
    };
    void greet();
    void takeGreeting(const base::Result<Json>& answer);
    void take(const QByteArray& bytes);
    void takeControl(const trace::Frame& frame);
    void answer(std::uint64_t id, const base::Result<Json>& result);
    void end(const std::optional<base::Error>& reason);

    std::unique_ptr<Transport> m_transport;
    trace::FrameReader m_reader;
    std::map<std::uint64_t, Pending> m_pending;
    std::optional<base::Error> m_reason; ///< ours, when we end the stream for cause
    std::uint64_t m_lastId = 0;
    qint64 m_greetedAt = 0; ///< ms since 1970
    std::optional<ClockOffset> m_clockOffset;
    Json m_agent;
    bool m_ready = false;
    bool m_ended = false;
};

} // namespace shardscope::app
