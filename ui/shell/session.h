// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QObject>
#include <QTimer>
#include <QUndoStack>

#include "app/remote/run_controller.h"
#include "app/remote/ssh/questions.h"
#include "app/replay/playback.h"
#include "app/replay/policy_costs.h"
#include "app/replay/tune_job.h"
#include "app/replay/what_if.h"
#include "app/store/run_store.h"
#include "ui/models/figures.h"
#include "ui/models/runs_model.h"
#include "ui/pages/boards_page.h"

namespace shardscope::ui {

/// The services behind the window and what its commands do with them: open, run, stop, plan,
/// delete with undo. GUI thread only; files are read on workers.
class Session : public QObject {
    Q_OBJECT
public:
    /// A store that cannot be opened leaves a window without memory; storeError() says why.
    explicit Session(const app::DataPaths& paths, QObject* parent = nullptr);
    ~Session() override;

    app::RunDocument* document() { return &m_document; }
    app::WhatIf* whatIf() { return &m_whatIf; }
    app::PolicyCosts* policies() { return &m_policies; }
    app::TuneJob* tune() { return &m_tune; }
    app::Playback* playback() { return &m_playback; }
    app::RunController* controller() { return m_controller.get(); }
    app::RunStore* store() { return m_store.get(); }
    RunsModel* runs() { return &m_runs; }
    const app::DataPaths& paths() const { return m_paths; }
    QString storeError() const { return m_storeError; }

    /// This machine (once it was measured), boards that were met, and presets.
    QList<BoardEntry> boards() const;
    /// Measures this machine unless that was done before; boardsChanged() follows.
    void measureThisMachine();

    /// How the built-in models do on this board; fitKnown() follows.
    void planModelsFor(const plan::BoardProfile& board);

    void openRun(const QString& uuid);
    /// A recording, a model or an audio file, by its name's end.
    void openFile(const QString& path);
    /// Empties the page and plans this card ("card:..." or a file) for a board.
    void plan(const QString& model, const plan::BoardProfile& board);
    void runSample();
    /// Runs the open model with the settings of What-if.
    void runSettings();
    void run(const app::RunOrder& order);
    /// What validation has shown of predictions for the board of What-if.
    PredictionErrors predictionErrors() const;
    /// The board that runSettings() runs on: this machine, or this machine held to what the board
    /// of What-if has.
    QString runBoard() const;
    /// Whether runSettings() has something to run; if not, why.
    bool canRun(QString* why = nullptr) const;
    void setAudio(const QString& path);

    /// Reads two recordings of the store; curvesRead() follows.
    void readCurves(const QString& first, const QString& second);

    /// What can be taken back: settings, notes, tags. A delete has its own undo and its own time.
    QUndoStack* undoStack() { return &m_undoStack; }
    void undo();
    void redo();

    QList<app::RangeNote> rangeNotes() const;
    /// Keeps the notes of the open run; one that is in no store forgets them with its window.
    void setRangeNotes(const QList<app::RangeNote>& notes);
    void setTags(const QString& uuid, const QStringList& tags);
    void star(const QString& uuid, bool starred);
    /// Hides the run; it is removed when undo is no longer offered.
    void deleteRun(const QString& uuid);
    void undoDelete();
    /// Removes what was hidden.
    void purge();

signals:
    void failed(const QString& line);
    void noted(const QString& line);
    void resultsWanted();
    /// Null where a recording cannot be read.
    void curvesRead(
        const QString& first, const QString& second, std::shared_ptr<const trace::Trace> a,
        std::shared_ptr<const trace::Trace> b);
    void rangeNotesChanged();
    void boardsChanged();
    /// A connection to a board has something to ask, or will have: connect to its questions.
    void connectionMade(shardscope::app::QuestionBox* questions);
    void fitKnown(const QString& board, const std::vector<shardscope::ui::FitRow>& rows);
    void runnableChanged();
    void deleted(const QString& name);
    void undoOver();
    /// The model is known, but no audio to hear.
    void audioWanted();

private:
    void reloadRuns();
    void drawMissingThumbnail();
    void readRecording(const QString& path, const QString& uuid);
    void runEnded();
    void followSettings();
    void addRemote(QList<BoardEntry>& all) const;
    std::optional<app::RemoteBoard> remoteBoard(const QString& name) const;
    void check(const base::Status& status);
    QString modelFile() const;
    QString audioFile() const;

    app::DataPaths m_paths;
    std::unique_ptr<app::RunStore> m_store;
    QString m_storeError;
    app::JobRunner m_jobs;
    app::RunDocument m_document;
    app::WhatIf m_whatIf;
    app::PolicyCosts m_policies;
    app::TuneJob m_tune;
    app::Playback m_playback;
    std::unique_ptr<app::RunController> m_controller;
    RunsModel m_runs;
    QString m_model; ///< the file that runs next, where it is known
    QString m_audio;
    QStringList m_noThumbnail; ///< runs that have nothing to draw
    QString m_hidden;          ///< uuid of the run that can be brought back
    QTimer m_undo;
    QUndoStack m_undoStack;
    plan::RunConfig m_settings; ///< of What-if, before the change that is told
    bool m_undoing = false;
};

} // namespace shardscope::ui
