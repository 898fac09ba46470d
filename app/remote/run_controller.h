// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "app/jobs/job_runner.h"
#include "app/remote/agent_session.h"
#include "app/replay/run_document.h"
#include "app/store/run_store.h"

namespace shardscope::app {

/// What to run, where, and how.
struct RunOrder {
    QString board = QStringLiteral("local");
    QString model; ///< a file
    QString audio; ///< any audio file
    plan::RunConfig config;
    /// What the run is predicted with; the local board is measured when it is needed and unknown.
    std::optional<plan::BoardProfile> profile;
};

/// One run from order to end: converts the audio, starts the agent, feeds its frames into the
/// document and the store. Whatever breaks, what was recorded is kept and marked. GUI thread only.
class RunController : public QObject {
    Q_OBJECT
public:
    using OpenTransport = std::function<std::unique_ptr<Transport>()>;

    /// `store` may be null: then nothing is kept. All outlive the controller.
    RunController(
        RunStore* store, JobRunner* jobs, RunDocument* document, QObject* parent = nullptr);
    ~RunController() override;

    /// Another way to the agent than the local child process.
    void setTransport(OpenTransport open) {
        m_open = std::move(open);
        m_measures = false; // what is on the other side is not this machine
    }

    /// Starts; ended() follows. Usage where a run is going on already.
    base::Status start(const RunOrder& order);
    /// Asks the agent to end the run; kills it when it does not answer.
    void stop();

    bool isRunning() const { return m_running; }
    const RunOrder& order() const { return m_order; }
    /// Since the start of the current run, or how long the last one took.
    std::chrono::milliseconds elapsed() const;
    /// Bytes kept of the current run so far.
    qint64 recordedBytes() const { return m_writer ? m_writer->bytes() : 0; }

signals:
    void startedRun();
    /// A word for the status line: "converting audio", "starting the agent", "running".
    void phaseChanged(const QString& phase);
    /// The run is over; the document tells how. `error` is what broke it, if anything did.
    void ended(const std::optional<shardscope::base::Error>& error);
    /// Once: it runs on, but is not or not wholly kept: the disk is full, the store is gone.
    void recordingFailed(const QString& line);

private:
    void
    prepare(const base::Result<QString>& audio, const std::optional<plan::BoardProfile>& measured);
    void startAgent(const QString& audio);
    void orderRun(const QString& audio);
    void takeFrame(const trace::Frame& frame);
    void takeRunFrame(const trace::Frame& frame);
    std::string withBoard(std::string_view header) const;
    void keep(const trace::Frame& frame);
    void finish(const std::optional<base::Error>& error);
    void releaseSession();
    void stopKeeping(const base::Error& error);
    void finishKeeping(const std::optional<base::Error>& error);

    RunStore* m_store;
    JobRunner* m_jobs;
    RunDocument* m_document;
    OpenTransport m_open;
    AgentSession* m_session = nullptr; ///< our child
    std::unique_ptr<RunWriter> m_writer;
    RunOrder m_order;
    QElapsedTimer m_clock;
    std::chrono::milliseconds m_took{0};
    bool m_running = false;
    bool m_stopAsked = false;
    bool m_keep = false;
    std::optional<base::Error> m_keepError;
    bool m_measures = true;
};

} // namespace shardscope::app
