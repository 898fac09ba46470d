// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/run_controller.h"

#include <utility>

#include <QFileInfo>

#include "app/jobs/audio_file.h"
#include "app/remote/board_source.h"
#include "app/remote/local_transport.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/merge_reads.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

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

void RunController::setLocal() {
    m_open = [] { return std::make_unique<LocalTransport>(); };
    m_measures = true;
    m_linkPatience.reset();
}

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
    m_keep = m_store != nullptr;
    m_keepError.reset();
    m_clock.start();
    m_document->beginLive();
    emit startedRun();
    m_local.reset();
    m_heldBy = nullptr;
    const bool emulates = isEmulated(m_order.board);
    std::optional<plan::BoardProfile>& profile = emulates ? m_local : m_order.profile;
    if (!profile && m_store)
        if (auto known = m_store->board(emulates ? kLocalBoard : m_order.board); known && *known)
            profile = (*known)->profile;
    if (!order.spooled.empty()) {
        startAgent({});
        return {};
    }
    const bool measure = !profile && (emulates || m_order.board == kLocalBoard) && m_measures;
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
        (isEmulated(m_order.board) ? m_local : m_order.profile) = measured;
        if (m_store)
            (void)m_store->saveBoard(*measured); // else it is measured again next time
    }
    if (Status status = holdToBoard(); !status)
        return finish(status.error());
    startAgent(*audio);
}

/// Makes the limits of an emulated board, and the configuration that goes with them.
Status RunController::holdToBoard() {
    if (!isEmulated(m_order.board))
        return {};
    auto board = resolveBoard(emulatedName(m_order.board), m_store);
    if (!board)
        return board.error();
    m_emulation = Emulation::prepare(*board, m_local, m_order.model, m_order.config);
    m_order.isCold |= m_emulation->beginsCold();
    if (!m_order.profile)
        m_order.profile = m_emulation->profile();
    emit emulating(m_emulation->words());
    return {};
}

RunController::OpenTransport RunController::way() const {
    if (!m_emulation)
        return m_open;
    return [held = m_emulation]() -> std::unique_ptr<Transport> {
        auto transport = std::make_unique<LocalTransport>();
        transport->setBeforeExec([held] { return held->enter(); });
        return transport;
    };
}

void RunController::startAgent(const QString& audio) {
    emit phaseChanged(tr("starting the agent"));
    m_link = new RunLink(way(), this);
    if (m_linkPatience)
        m_link->setOutlives(*m_linkPatience);
    connect(m_link, &RunLink::phaseChanged, this, &RunController::phaseChanged);
    connect(m_link, &RunLink::lossChanged, this, &RunController::lossChanged);
    connect(m_link, &RunLink::frameArrived, this, &RunController::takeFrame);
    connect(m_link, &RunLink::ended, this, &RunController::finish);
    if (!m_order.spooled.empty())
        return m_link->takeUp(m_order.spooled);
    // The agent knows not what its storage was measured to do.
    const plan::RunConfig config =
        m_order.profile ? plan::withUsefulRead(m_order.config, *m_order.profile) : m_order.config;
    m_link->start(
        {{"model", absolutePath(m_order.model).toStdString()},
         {"audio", absolutePath(audio).toStdString()},
         {"config", plan::toJson(config)},
         {"cold", m_order.isCold},
         {"raw_greedy", false}});
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
    Json document = Json::parse(header, nullptr, false);
    if (!document.is_object() || !document.contains("run") || !document["run"].is_object() ||
        document["run"].contains("board"))
        return {};
    if (m_order.profile)
        document["run"]["board"] = plan::toJson(*m_order.profile);
    if (m_emulation)
        document["run"]["emulation"] = m_emulation->toJson();
    std::optional<ClockOffset> clock;
    if (m_linkPatience && m_link) // of another machine
        clock = m_link->clockOffset();
    if (clock)
        document["run"]["clock"] = {{"ahead_ms", clock->aheadMs}, {"within_ms", clock->withinMs}};
    return document.dump();
}

/// The first frame kept is the header of the run: one that never began leaves nothing behind.
void RunController::keep(const trace::Frame& frame) {
    if (!m_writer) {
        RunRecord record;
        describe(record, m_document->content());
        record.audio =
            m_order.spooled.empty() ? QFileInfo(m_order.audio).fileName() : m_document->audioName();
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
    if (m_link)
        m_link->leaveThere();
    if (std::exchange(m_keepError, error))
        return; // one line tells it
    emit recordingFailed(QString::fromStdString(error.line()));
}

void RunController::stop() {
    if (!m_running)
        return;
    if (m_link)
        return m_link->stop();
    m_jobs->cancel(kAudioJob);
    finish(stopped());
}

void RunController::finish(const std::optional<Error>& error) {
    if (!std::exchange(m_running, false))
        return;
    m_took = std::chrono::milliseconds(m_clock.elapsed());
    std::optional<Error> why = error;
    if (const auto held = std::exchange(m_emulation, nullptr)) { // the agent holds it until it ends
        m_heldBy = held->toJson();
        if (error && held->isKilledForMemory())
            why = Error{
                ErrorCode::Failed,
                "killed: the memory of the board was full (" +
                    base::bytesText(held->memoryLimit()) + ")",
                m_order.board.toStdString(), "give --budget, or a smaller one"};
    }
    m_document->endLive(why);
    finishKeeping(why);
    releaseLink();
    if (m_document->state() == RunState::Stopped)
        emit ended({}); // that is what was asked for
    else
        emit ended(why);
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

/// It may be what has just told us that the run is over.
void RunController::releaseLink() {
    if (!m_link)
        return;
    m_link->disconnect(this);
    std::exchange(m_link, nullptr)->deleteLater();
}

} // namespace shardscope::app
