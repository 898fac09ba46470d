// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/run_controller.h"

#include <utility>

#include <QFileInfo>

#include "app/jobs/audio_file.h"
#include "app/remote/board_source.h"
#include "app/remote/local_transport.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::chrono::seconds kStopPatience{5};
const QString kAudioJob = QStringLiteral("audio for a run");

QString absolutePath(const QString& file) {
    return QFileInfo(file).absoluteFilePath();
}

Error stopped() {
    return {ErrorCode::Failed, "stopped before the run began", "run", ""};
}

} // namespace

RunController::RunController(
    RunStore* store, JobRunner* jobs, RunDocument* document, QObject* parent)
    : QObject(parent), m_store(store), m_jobs(jobs), m_document(document),
      m_open([] { return std::make_unique<LocalTransport>(); }) {}

RunController::~RunController() {
    m_jobs->cancel(kAudioJob);
    if (m_running)
        finish(Error{ErrorCode::Failed, "the program was closed during the run", "run", ""});
}

std::chrono::milliseconds RunController::elapsed() const {
    return m_running ? std::chrono::milliseconds(m_clock.elapsed()) : m_took;
}

Status RunController::start(const RunOrder& order) {
    if (m_running)
        return Error{ErrorCode::Usage, "a run is going on already", "run", "stop it first"};
    m_order = order;
    m_running = true;
    m_stopAsked = false;
    m_keep = m_store != nullptr;
    m_keepError.reset();
    m_clock.start();
    m_document->beginLive();
    emit startedRun();
    if (!m_order.profile && m_store)
        if (auto known = m_store->board(m_order.board); known && *known)
            m_order.profile = (*known)->profile;
    const bool measure = !m_order.profile && m_order.board == kLocalBoard && m_measures;
    emit phaseChanged(measure ? tr("measuring this machine, once") : tr("reading the audio"));
    const QString folder =
        m_store ? m_store->paths().converted() : DataPaths::standard().converted();
    m_jobs->start(
        kAudioJob,
        [this, measure, audio = order.audio, folder](JobControl& job) -> JobRunner::Deliver {
            Result<QString> file = modelAudio(audio, folder, job);
            std::optional<plan::BoardProfile> profile;
            if (file && measure && !job.isCancelled())
                if (auto measured = probeLocalBoard()) // without one, nothing is predicted
                    profile = std::move(*measured);
            return [this, file, profile] { prepare(file, profile); };
        });
    return {};
}

void RunController::prepare(
    const Result<QString>& audio, const std::optional<plan::BoardProfile>& measured) {
    if (!audio)
        return finish(audio.error());
    if (measured) {
        m_order.profile = measured;
        if (m_store)
            (void)m_store->saveBoard(*measured); // else it is measured again next time
    }
    startAgent(*audio);
}

void RunController::startAgent(const QString& audio) {
    emit phaseChanged(tr("starting the agent"));
    auto transport = m_open();
    transport->bring({absolutePath(m_order.model), absolutePath(audio)});
    m_session = new AgentSession(std::move(transport), this);
    connect(m_session, &AgentSession::phaseChanged, this, &RunController::phaseChanged);
    connect(m_session, &AgentSession::ready, this, [this, audio] { orderRun(audio); });
    connect(m_session, &AgentSession::runFrame, this, &RunController::takeFrame);
    connect(m_session, &AgentSession::ended, this, [this](const std::optional<Error>& why) {
        finish(why.value_or(
            Error{ErrorCode::Failed, "the agent ended before the run did", "run", "run it again"}));
    });
    m_session->start();
}

void RunController::orderRun(const QString& audio) {
    emit phaseChanged(tr("running"));
    const Json request{
        {"model", m_session->pathThere(absolutePath(m_order.model)).toStdString()},
        {"audio", m_session->pathThere(absolutePath(audio)).toStdString()},
        {"config", plan::toJson(m_order.config)},
        {"raw_greedy", false}};
    m_session->request("run", request, {}, [this](const Result<Json>& result) {
        finish(result ? std::nullopt : std::optional(result.error()));
    });
}

void RunController::takeFrame(const trace::Frame& frame) {
    if (!m_running)
        return;
    // The agent knows what it ran; what its board can do is known here.
    if (frame.kind == trace::FrameKind::Control && !m_document->content().hasRun()) {
        if (const std::string header = withBoard(frame.payload); !header.empty()) {
            trace::Frame complete = frame;
            complete.payload = header;
            return takeRunFrame(complete);
        }
    }
    takeRunFrame(frame);
}

void RunController::takeRunFrame(const trace::Frame& frame) {
    m_document->addFrame(frame);
    if (m_keep && m_document->content().hasRun())
        keep(frame);
}

/// A run's header with the board's profile in it; empty where it is no header or has one.
std::string RunController::withBoard(std::string_view header) const {
    if (!m_order.profile)
        return {};
    Json document = Json::parse(header, nullptr, false);
    if (!document.is_object() || !document.contains("run") || !document["run"].is_object() ||
        document["run"].contains("board"))
        return {};
    document["run"]["board"] = plan::toJson(*m_order.profile);
    return document.dump();
}

/// The first frame kept is the header of the run: one that never began leaves nothing behind.
void RunController::keep(const trace::Frame& frame) {
    if (!m_writer) {
        RunRecord record;
        describe(record, m_document->content());
        record.audio = QFileInfo(m_order.audio).fileName();
        if (record.board.isEmpty())
            record.board = m_order.board;
        auto writer = m_store->begin(record);
        if (!writer)
            return stopKeeping(writer.error());
        m_writer = std::move(*writer);
        m_document->setUuid(record.uuid);
    }
    std::string bytes;
    trace::appendFrame(bytes, frame.kind, frame.sequence, frame.payload);
    if (Status status = m_writer->append(bytes.data(), static_cast<qint64>(bytes.size())); !status)
        stopKeeping(status.error());
}

void RunController::stopKeeping(const Error& error) {
    m_keep = false;
    if (std::exchange(m_keepError, error))
        return; // one line tells it
    emit recordingFailed(QString::fromStdString(error.line()));
}

void RunController::stop() {
    if (!m_running || std::exchange(m_stopAsked, true))
        return;
    if (!m_session || !m_session->isReady()) {
        m_jobs->cancel(kAudioJob);
        return finish(stopped());
    }
    emit phaseChanged(tr("stopping"));
    m_session->request("stop", {}, kStopPatience, [this](const Result<Json>& answer) {
        if (!answer && m_running && m_session)
            m_session->stop(); // what was recorded so far stays, as a partial run
    });
}

void RunController::finish(const std::optional<Error>& error) {
    if (!std::exchange(m_running, false))
        return;
    m_took = std::chrono::milliseconds(m_clock.elapsed());
    releaseSession();
    m_document->endLive(error);
    finishKeeping(error);
    if (m_document->state() == RunState::Stopped)
        emit ended({}); // that is what was asked for
    else
        emit ended(error);
}

/// What goes wrong here does not spoil the run: it is told beside its result.
void RunController::finishKeeping(const std::optional<Error>& error) {
    if (!m_writer)
        return;
    if (Status status = m_writer->close(); !status)
        stopKeeping(status.error());
    m_writer.reset();
    const std::optional<Error>& why = error ? error : m_keepError;
    if (Status status = m_store->finish(m_document->uuid(), m_document->content(), why); !status)
        stopKeeping(status.error());
}

/// Lets the agent go without waiting for it here; it deletes itself when it has gone.
void RunController::releaseSession() {
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
