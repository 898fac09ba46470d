// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "app/jobs/job_runner.h"
#include "app/remote/emulate/emulation.h"
#include "app/remote/run_link.h"
#include "app/replay/run_document.h"
#include "app/store/run_store.h"

namespace shardscope::app {

/// What to run, where, and how.
struct RunOrder {
    QString board = QStringLiteral("local");
    QString model; ///< a file
    QString audio; ///< any audio file
    plan::RunConfig config;
    bool isCold = false; ///< begins with nothing of the model in the page cache
    /// A run that the agent's machine has kept since nobody fetched it: it is fetched, and model,
    /// audio and config are its own.
    std::string spooled;
    /// What the run is predicted with; the local board is measured when it is needed and unknown.
    std::optional<plan::BoardProfile> profile;
};

/// One run from order to end: converts the audio, starts the agent, feeds its frames into the
/// document and the store. Whatever breaks, what was recorded is kept and marked. GUI thread only.
class RunController : public QObject {
    Q_OBJECT
public:
    using OpenTransport = RunLink::OpenTransport;

    /// `store` may be null: then nothing is kept. All outlive the controller.
    RunController(
        RunStore* store, JobRunner* jobs, RunDocument* document, QObject* parent = nullptr);
    ~RunController() override;

    /// Another way to the agent than the local child process.
    void setTransport(OpenTransport open) {
        m_open = std::move(open);
        m_measures = false; // what is on the other side is not this machine
    }

    /// The local child process again.
    void setLocal();

    /// The link may drop while the agent's machine goes on: then the run is a process of its own
    /// there, and is fetched from the byte on that was received last, for as long as `patience`
    /// after the link was lost.
    void setOutlivesLink(std::chrono::seconds patience = std::chrono::minutes(10)) {
        m_linkPatience = patience;
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

    /// What held the last run to its board (Emulation::toJson); null unless that is emulated.
    const nlohmann::ordered_json& emulation() const { return m_heldBy; }

signals:
    void startedRun();
    /// The board is emulated: what holds the run to it, in a line.
    void emulating(const QString& line);
    /// A word for the status line: "converting audio", "starting the agent", "running", "connection
    /// lost, the run goes on there; try 2 to reach it".
    void phaseChanged(const QString& phase);
    /// The connection to the run is gone, while the run goes on where it is; or it is back, and
    /// what was missed comes now.
    void lossChanged(bool isLost);
    /// The run is over; the document tells how. `error` is what broke it, if anything did.
    void ended(const std::optional<shardscope::base::Error>& error);
    /// Once: it runs on, but is not or not wholly kept: the disk is full, the store is gone.
    void recordingFailed(const QString& line);

private:
    void
    prepare(const base::Result<QString>& audio, const std::optional<plan::BoardProfile>& measured);
    base::Status holdToBoard();
    OpenTransport way() const;
    void startAgent(const QString& audio);
    void takeFrame(const trace::Frame& frame);
    void takeRunFrame(const trace::Frame& frame);
    std::string withBoard(std::string_view header) const;
    void keep(const trace::Frame& frame);
    void finish(const std::optional<base::Error>& error);
    void releaseLink();
    void stopKeeping(const base::Error& error);
    void finishKeeping(const std::optional<base::Error>& error);

    RunStore* m_store;
    JobRunner* m_jobs;
    RunDocument* m_document;
    OpenTransport m_open;
    RunLink* m_link = nullptr; ///< our child
    std::unique_ptr<RunWriter> m_writer;
    RunOrder m_order;
    std::optional<plan::BoardProfile> m_local; ///< this machine, when a board is emulated on it
    std::shared_ptr<Emulation> m_emulation;
    nlohmann::ordered_json m_heldBy;
    QElapsedTimer m_clock;
    std::chrono::milliseconds m_took{0};
    bool m_running = false;
    bool m_keep = false;
    std::optional<base::Error> m_keepError;
    bool m_measures = true;
    std::optional<std::chrono::seconds> m_linkPatience; ///< of runs that outlive their link
};

} // namespace shardscope::app
