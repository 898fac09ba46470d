// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/session.h"

#include <algorithm>

#include <QFileInfo>

#include "app/remote/board_source.h"
#include "app/remote/emulate/emulated_board.h"
#include "app/remote/sample.h"
#include "sim_engine/model/card_catalog.h"
#include "ui/shell/remote_boards.h"
#include "ui/shell/thumbnail.h"
#include "ui/shell/undo.h"

namespace shardscope::ui {
namespace {

constexpr int kUndoMs = 10'000;
constexpr int kPlannedTokens = 32; ///< of a plan without a run: a sentence or two
const QString kReadJob = QStringLiteral("read a recording");
const QString kFitJob = QStringLiteral("plan models for a board");
const QString kCurvesJob = QStringLiteral("read two recordings");
const QString kThumbnailJob = QStringLiteral("draw a thumbnail");
const QString kProbeJob = QStringLiteral("measure this machine");

QString line(const base::Error& error) {
    return QString::fromStdString(error.line());
}

} // namespace

Session::Session(const app::DataPaths& paths, QObject* parent)
    : QObject(parent), m_paths(paths), m_whatIf(&m_jobs), m_policies(&m_jobs, &m_whatIf),
      m_tune(&m_jobs) {
    if (auto store = app::RunStore::open(paths)) {
        m_store = std::move(*store);
        connect(m_store.get(), &app::RunStore::runsChanged, this, &Session::reloadRuns);
        connect(m_store.get(), &app::RunStore::boardsChanged, this, &Session::boardsChanged);
    } else {
        m_storeError = line(store.error());
    }
    m_controller = std::make_unique<app::RunController>(m_store.get(), &m_jobs, &m_document);
    connect(m_controller.get(), &app::RunController::ended, this, &Session::runEnded);
    connect(m_controller.get(), &app::RunController::recordingFailed, this, &Session::failed);
    connect(m_controller.get(), &app::RunController::phaseChanged, this, &Session::noted);
    connect(m_controller.get(), &app::RunController::emulating, this, &Session::noted);
    m_undo.setSingleShot(true);
    m_undo.setInterval(kUndoMs);
    connect(&m_undo, &QTimer::timeout, this, &Session::purge);
    connect(&m_whatIf, &app::WhatIf::configChanged, this, &Session::followSettings);
    connect(
        &m_whatIf, &app::WhatIf::baselineChanged, this, [this] { m_settings = m_whatIf.config(); });
    connect(&m_document, &app::RunDocument::replaced, &m_undoStack, &QUndoStack::clear);
    reloadRuns();
}

Session::~Session() {
    purge();
    // A run that is going on ends here and is kept; nothing of this object hears of it any more.
    m_controller->disconnect(this);
    if (m_store)
        m_store->disconnect(this);
    m_controller.reset();
}

void Session::reloadRuns() {
    if (!m_store)
        return;
    auto runs = m_store->runs();
    if (!runs)
        return emit failed(line(runs.error()));
    runs->removeIf([this](const app::RunRecord& run) { return run.uuid == m_hidden; });
    m_runs.setRuns(std::move(*runs));
    drawMissingThumbnail();
}

/// Boards over SSH: those that were measured are in the list already.
void Session::addRemote(QList<BoardEntry>& all) const {
    const auto boards = m_store ? m_store->remoteBoards()
                                : base::Result<QList<app::RemoteBoard>>(QList<app::RemoteBoard>());
    if (!boards)
        return;
    for (const app::RemoteBoard& board : *boards) {
        auto entry = std::find_if(all.begin(), all.end(), [&](const BoardEntry& e) {
            return e.profile.name == board.name.toStdString();
        });
        if (entry == all.end()) {
            all.append(BoardEntry());
            entry = std::prev(all.end());
            entry->profile.name = board.name.toStdString();
            entry->measured = false;
        }
        entry->remote = board;
        entry->connected = board.state == QStringLiteral("ready");
        entry->state = entry->connected ? tr("over SSH") : tr("not reached");
        entry->lastSeen = board.lastSeen;
    }
}

QList<BoardEntry> Session::boards() const {
    QList<BoardEntry> all;
    if (m_store)
        if (const auto met = m_store->boards())
            for (const app::BoardRecord& board : *met) {
                const bool local = board.profile.name == app::kLocalBoard.toStdString();
                const BoardEntry entry{
                    board.profile, local ? tr("this machine") : tr("met before"), local,
                    board.lastSeen};
                local ? all.prepend(entry) : all.append(entry);
            }
    addRemote(all);
    for (const QString& name : app::presetBoardNames())
        if (auto board = app::presetBoard(name))
            all.append({std::move(*board), tr("preset"), false, {}});
    return all;
}

void Session::measureThisMachine() {
    if (!m_store)
        return;
    const auto known = m_store->board(app::kLocalBoard);
    if (!known || known->has_value())
        return;
    emit noted(tr("Measuring this machine..."));
    m_jobs.start(kProbeJob, [this](app::JobControl&) -> app::JobRunner::Deliver {
        auto board = app::probeLocalBoard();
        return [this, board] {
            if (!board)
                return emit noted(line(board.error()));
            check(m_store->saveBoard(*board));
            emit noted(tr("This machine is measured."));
        };
    });
}

void Session::planModelsFor(const plan::BoardProfile& board) {
    m_jobs.start(kFitJob, [this, board](app::JobControl&) -> app::JobRunner::Deliver {
        auto rows = boardFit(board);
        return
            [this, rows, name = QString::fromStdString(board.name)] { emit fitKnown(name, rows); };
    });
}

/// Runs that were made without a window get their picture here, one after the other.
void Session::drawMissingThumbnail() {
    const auto& runs = m_runs.runs();
    const auto wanted = std::find_if(runs.begin(), runs.end(), [this](const app::RunRecord& run) {
        return run.thumbnail.isEmpty() && run.state != app::RunState::Running &&
               !m_noThumbnail.contains(run.uuid);
    });
    if (wanted == runs.end() || m_jobs.isRunning(kThumbnailJob))
        return;
    const QString uuid = wanted->uuid;
    m_noThumbnail.append(uuid);
    m_jobs.start(
        kThumbnailJob,
        [this, uuid, path = m_paths.recording(uuid)](app::JobControl&) -> app::JobRunner::Deliver {
            const auto content = app::readRunFile(path.toStdString());
            const QByteArray picture = content ? thumbnailOf(content->trace()) : QByteArray();
            return [this, uuid, picture] {
                if (!picture.isEmpty())
                    check(m_store->setThumbnail(uuid, picture));
                QTimer::singleShot(0, this, &Session::drawMissingThumbnail);
            };
        });
}

void Session::openRun(const QString& uuid) {
    if (!m_store || uuid.isEmpty() || m_controller->isRunning() || uuid == m_document.uuid())
        return emit resultsWanted();
    readRecording(m_paths.recording(uuid), uuid);
}

void Session::readRecording(const QString& path, const QString& uuid) {
    m_jobs.start(kReadJob, [this, path, uuid](app::JobControl&) -> app::JobRunner::Deliver {
        auto content =
            std::make_shared<base::Result<app::RunContent>>(app::readRunFile(path.toStdString()));
        return [this, content, uuid] {
            if (!*content)
                return emit failed(line(content->error()));
            m_document.adopt(std::move(**content));
            m_document.setUuid(uuid);
            m_model.clear();
            m_audio.clear();
            m_whatIf.setDocument(&m_document);
            emit runnableChanged();
            emit resultsWanted();
        };
    });
}

void Session::openFile(const QString& path) {
    if (m_controller->isRunning())
        return emit failed(tr("A run is going on: stop it before you open another file."));
    const QString end = QFileInfo(path).suffix().toLower();
    if (!QFileInfo(path).isFile())
        return emit failed(tr("%1: there is no such file; choose another one").arg(path));
    if (end == QLatin1String("sst")) {
        const QFileInfo file(path);
        const bool kept = file.absolutePath() == QFileInfo(m_paths.runs()).absoluteFilePath();
        return readRecording(path, kept ? file.completeBaseName() : QString());
    }
    if (end == QLatin1String("wav") || end == QLatin1String("flac") ||
        end == QLatin1String("ogg") || end == QLatin1String("mp3"))
        return setAudio(path);
    const auto all = boards();
    if (!all.isEmpty())
        plan(path, all.front().profile);
}

void Session::plan(const QString& model, const plan::BoardProfile& board) {
    auto card = model::loadCard(model.toStdString());
    if (!card)
        return emit failed(line(card.error()));
    m_document.clear();
    m_model = model.startsWith(QLatin1String("card:")) ? QString() : model;
    m_whatIf.setPlanning(
        std::make_shared<const model::ModelCard>(std::move(*card)), board, plan::RunConfig(),
        {kPlannedTokens, 1});
    emit runnableChanged();
    emit resultsWanted();
}

void Session::setAudio(const QString& path) {
    m_audio = path;
    emit noted(tr("Audio: %1").arg(QFileInfo(path).fileName()));
    emit runnableChanged();
}

QString Session::modelFile() const {
    if (!m_model.isEmpty())
        return m_model;
    // A stored run knows its model by name: the sample can be found again.
    if (m_document.state() == app::RunState::Empty)
        return {};
    const auto file =
        app::resourceFile(QStringLiteral("models/%1.bin").arg(m_document.modelName()));
    return file ? *file : QString();
}

QString Session::audioFile() const {
    if (!m_audio.isEmpty())
        return m_audio;
    const QString name = m_document.audioName();
    if (name.isEmpty())
        return {};
    const auto file = app::resourceFile(QStringLiteral("clips/%1").arg(name));
    return file ? *file : QString();
}

bool Session::canRun(QString* why) const {
    QString reason;
    if (!m_whatIf.isReady())
        reason = tr("Open a model or a run first.");
    else if (modelFile().isEmpty())
        reason = tr("A built-in card has no weights: open a model file to run it.");
    if (why)
        *why = reason;
    return reason.isEmpty();
}

std::optional<app::RemoteBoard> Session::remoteBoard(const QString& name) const {
    if (!m_store)
        return std::nullopt;
    auto board = m_store->remoteBoard(name);
    return board ? *board : std::nullopt;
}

PredictionErrors Session::predictionErrors() const {
    PredictionErrors shown;
    const auto known =
        m_store ? m_store->predictionErrors(QString::fromStdString(m_whatIf.board().name))
                : std::nullopt;
    if (!known)
        return shown;
    shown.runs = static_cast<int>(known->configurations);
    for (std::size_t i = 0; i < app::kFigureCount; ++i) {
        const auto figure = static_cast<app::Figure>(i);
        const std::string_view name = app::figureName(figure);
        if (figure == app::Figure::Stall)
            continue; // its error is a share of the run, not of itself
        shown.figures[QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))] = {
            known->figures[i].median, known->figures[i].p90};
    }
    // Bytes of a token are those of the run over its tokens.
    shown.figures[QStringLiteral("streamed_bytes_per_token")] =
        shown.figures[QStringLiteral("bytes_read")];
    return shown;
}

QString Session::runBoard() const {
    const QString planned = QString::fromStdString(m_whatIf.board().name);
    if (app::isEmulated(planned) || remoteBoard(planned))
        return planned;
    const bool isPreset = app::presetBoardNames().contains(planned);
    return isPreset ? QStringLiteral("emulated:") + planned : app::kLocalBoard;
}

void Session::runSample() {
    auto order = app::demoOrder();
    if (!order)
        return emit failed(line(order.error()));
    run(*order);
}

void Session::runSettings() {
    QString why;
    if (!canRun(&why))
        return emit failed(why);
    if (audioFile().isEmpty())
        return emit audioWanted();
    app::RunOrder order;
    order.model = modelFile();
    order.audio = audioFile();
    order.config = m_whatIf.config();
    order.board = runBoard();
    run(order);
}

void Session::run(const app::RunOrder& order) {
    if (m_controller->isRunning())
        return emit failed(tr("A run is going on already: stop it first."));
    m_model = order.model;
    m_audio = order.audio;
    emit resultsWanted();
    if (const auto remote = remoteBoard(order.board)) {
        m_controller->setTransport([this, board = *remote] {
            return RemoteBoards::transportTo(
                board, [this](app::QuestionBox& box) { emit connectionMade(&box); });
        });
        m_controller->setOutlivesLink();
    } else {
        m_controller->setLocal();
    }
    check(m_controller->start(order));
    m_whatIf.setDocument(&m_document);
    emit runnableChanged();
}

void Session::runEnded() {
    if (m_store && !m_document.uuid().isEmpty()) {
        const QByteArray picture = thumbnailOf(m_document.trace());
        if (!picture.isEmpty())
            check(m_store->setThumbnail(m_document.uuid(), picture));
    }
    emit runnableChanged();
}

void Session::check(const base::Status& status) {
    if (!status)
        emit failed(line(status.error()));
}

void Session::readCurves(const QString& first, const QString& second) {
    m_jobs.start(
        kCurvesJob,
        [this, first, second, paths = m_paths](app::JobControl&) -> app::JobRunner::Deliver {
            const auto read = [&paths](const QString& uuid) {
                auto content = app::readRunFile(paths.recording(uuid).toStdString());
                if (!content)
                    return std::shared_ptr<const trace::Trace>();
                auto kept = std::make_shared<app::RunContent>(std::move(*content));
                return std::shared_ptr<const trace::Trace>(kept, &kept->trace());
            };
            return [this, first, second, a = read(first), b = read(second)] {
                emit curvesRead(first, second, a, b);
            };
        });
}

/// Settings that somebody changed, and not an undo or another run, are a step to take back.
void Session::followSettings() {
    const plan::RunConfig before = std::exchange(m_settings, m_whatIf.config());
    if (!m_undoing && before != m_settings)
        m_undoStack.push(new ChangeSettings(&m_whatIf, before, m_settings));
}

void Session::undo() {
    if (!m_hidden.isEmpty())
        return undoDelete();
    m_undoing = true;
    m_undoStack.undo();
    m_undoing = false;
}

void Session::redo() {
    m_undoing = true;
    m_undoStack.redo();
    m_undoing = false;
}

QList<app::RangeNote> Session::rangeNotes() const {
    if (!m_store || m_document.uuid().isEmpty())
        return {};
    const auto notes = m_store->rangeNotes(m_document.uuid());
    return notes ? *notes : QList<app::RangeNote>();
}

void Session::setRangeNotes(const QList<app::RangeNote>& notes) {
    const QString uuid = m_document.uuid();
    if (!m_store || uuid.isEmpty())
        return emit failed(tr("This recording is in no store: import it with `shardscope runs "
                              "import` to keep notes on it."));
    const auto keep = [this, uuid](const QList<app::RangeNote>& wanted) {
        check(m_store->setRangeNotes(uuid, wanted));
        emit rangeNotesChanged();
    };
    m_undoStack.push(new ChangeByCall(
        tr("note"), [keep, notes] { keep(notes); },
        [keep, before = rangeNotes()] { keep(before); }));
}

void Session::setTags(const QString& uuid, const QStringList& tags) {
    const app::RunRecord* run = m_runs.find(uuid);
    if (!m_store || !run || run->tags == tags)
        return;
    const auto keep = [this, uuid](const QStringList& wanted) {
        check(m_store->setTags(uuid, wanted));
    };
    m_undoStack.push(new ChangeByCall(
        tr("tags"), [keep, tags] { keep(tags); }, [keep, before = run->tags] { keep(before); }));
}

void Session::star(const QString& uuid, bool starred) {
    if (m_store)
        check(m_store->setStarred(uuid, starred));
}

void Session::deleteRun(const QString& uuid) {
    if (!m_store || uuid.isEmpty())
        return;
    if (m_controller->isRunning() && uuid == m_document.uuid())
        return emit failed(tr("This run is going on: stop it before you delete it."));
    purge();
    const app::RunRecord* run = m_runs.find(uuid);
    const QString name = run ? shortModelName(run->model) : uuid;
    m_hidden = uuid;
    m_undo.start();
    reloadRuns();
    emit deleted(name);
}

void Session::undoDelete() {
    m_undo.stop();
    m_hidden.clear();
    reloadRuns();
    emit undoOver();
}

void Session::purge() {
    m_undo.stop();
    if (m_hidden.isEmpty() || !m_store)
        return;
    const QString uuid = std::exchange(m_hidden, QString());
    check(m_store->remove(uuid));
    emit undoOver();
}

} // namespace shardscope::ui
