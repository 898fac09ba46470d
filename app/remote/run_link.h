// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/remote/agent_session.h"

namespace shardscope::app {

/// One run in an agent, over as many connections as it takes. Where it is to outlive them, the run
/// is a process of its own and goes on on the board when the connection drops; then this connects
/// again by itself and takes the stream up behind the last frame that came, so that every frame is
/// handed on once. GUI thread only; made for one run.
class RunLink : public QObject {
    Q_OBJECT
public:
    using Json = AgentSession::Json;
    using OpenTransport = std::function<std::unique_ptr<Transport>()>;

    /// The connections end with `parent`, if not before.
    RunLink(OpenTransport open, QObject* parent);
    /// Lets the agent go without waiting for it.
    ~RunLink() override;

    /// Starts; ended() follows. The files named by "model" and "audio" of `request` are those of
    /// this machine.
    void start(Json request);
    /// The same with a run that waits in the agent's spool, or still goes on there: from its begin.
    void takeUp(std::string runId);
    /// Asks the agent to end the run; what it had done by then still comes. Ends the connection
    /// where it does not answer. Before the run has begun it ends at once.
    void stop();

    /// What the agent has kept of the run stays there: here it could not be taken down.
    void leaveThere() { m_leaves = true; }

    /// The run is to go on when the connection drops; for so long the way back is tried.
    void setOutlives(std::chrono::milliseconds patience) {
        m_outlives = true;
        m_patience = patience;
    }

    /// The clock there against ours; none before the first connection is ready.
    std::optional<ClockOffset> clockOffset() const { return m_clockOffset; }

signals:
    void phaseChanged(const QString& phase);
    void frameArrived(const shardscope::trace::Frame& frame);
    /// The connection is gone and the run is not, or it is back.
    void lossChanged(bool isLost);
    /// Once. `error` is what broke the run, or the way to it.
    void ended(const std::optional<shardscope::base::Error>& error);

private:
    void open();
    void
    ask(const std::string& name, Json parameters, std::chrono::milliseconds deadline,
        AgentSession::Reply reply);
    void order();
    void attach();
    void take(const trace::Frame& frame);
    void loseSession(const std::optional<base::Error>& why);
    void finish(const std::optional<base::Error>& error);
    void releaseSession();
    void askToStop();

    OpenTransport m_open;
    AgentSession* m_session = nullptr; ///< our parent's child
    Json m_request;
    std::optional<ClockOffset> m_clockOffset;
    bool m_outlives = false;
    std::string m_runId;          ///< of a run that outlives its connection
    std::uint64_t m_received = 0; ///< bytes of its whole frames
    bool m_wasThere = false;      ///< the run was seen in the agent
    bool m_isTakenUp = false;     ///< by takeUp()
    bool m_isWhole = false;       ///< the stream of the run has come to its end
    bool m_leaves = false;        ///< see leaveThere()
    bool m_lost = false;
    bool m_stopAsked = false;
    bool m_over = false;
    int m_tries = 0;
    std::chrono::milliseconds m_patience{0};
    QElapsedTimer m_sinceLoss;
    QTimer m_again;
};

} // namespace shardscope::app
