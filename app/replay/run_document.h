// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>
#include <QString>

#include "app/replay/run_content.h"

namespace shardscope::app {

/// One run, measured: live or finished. GUI thread only.
class RunDocument : public QObject {
    Q_OBJECT
public:
    using State = RunState;

    explicit RunDocument(QObject* parent = nullptr);

    /// Grows while live; the reference stays valid and the same until the next clear() or load.
    const trace::Trace& trace() const { return m_content->trace(); }
    const plan::RunConfig& config() const { return m_content->config(); }
    /// Null until the run has begun.
    std::shared_ptr<const model::ModelCard> card() const { return m_content->card(); }
    const plan::BoardProfile& board() const { return m_content->board(); }

    /// "sample-whisper-commands.en on local, syn-007.wav"
    QString title() const;
    QString boardName() const;
    QString modelName() const;
    QString audioName() const;
    QString transcript() const { return QString::fromStdString(m_content->text()); }
    /// The result document; null until the run is done.
    const nlohmann::ordered_json& result() const { return m_content->recording().result; }
    /// Figures so far.
    analyze::Summary summary() const { return m_content->summary(); }
    std::int32_t windows() const { return m_content->windows(); }
    std::int32_t tokens() const { return m_content->tokens(); }
    /// Bytes between frames, events of kinds or ids that are not known here: to be announced.
    std::uint64_t skippedBytes() const { return m_content->recording().skippedBytes; }
    std::uint64_t unknownEvents() const { return m_content->recording().unknownEvents; }

    /// All of the above in one piece, for the store.
    const RunContent& content() const { return *m_content; }

    State state() const { return m_state; }
    /// One line: what went wrong, where, what to do. Empty when nothing did.
    QString errorLine() const { return m_errorLine; }
    /// The id in the store; empty for a file that was opened.
    QString uuid() const { return m_uuid; }
    void setUuid(const QString& uuid) { m_uuid = uuid; }

    /// Empties the document.
    void clear();
    /// Empties it for a run that starts now.
    void beginLive();
    /// Takes a frame of the live run; a frame that cannot be read ends it as Failed.
    void addFrame(const trace::Frame& frame);
    /// The stream ended: the state follows from what was seen, `error` (if any) says why it broke.
    void endLive(const std::optional<base::Error>& error = {});
    /// Takes a run that a worker has read.
    void adopt(RunContent content);
    /// Reads a .sst file here and now.
    base::Status open(const QString& path);

signals:
    /// Events from index `first` on are new.
    void eventsAppended(qsizetype first);
    /// Also when config, card and board have become known.
    void stateChanged();
    void transcriptChanged();
    /// All of it is another run now: trace() is a new object.
    void replaced();

private:
    void setState(State state, const QString& errorLine = {});

    std::unique_ptr<RunContent> m_content;
    State m_state = State::Empty;
    QString m_errorLine;
    QString m_uuid;
};

} // namespace shardscope::app
