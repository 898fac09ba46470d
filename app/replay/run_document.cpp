// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/run_document.h"

#include <utility>

#include <QFileInfo>

namespace shardscope::app {

RunDocument::RunDocument(QObject* parent)
    : QObject(parent), m_content(std::make_unique<RunContent>()) {}

QString RunDocument::modelName() const {
    if (!card())
        return {};
    QString name = QFileInfo(QString::fromStdString(card()->name)).fileName();
    return name.endsWith(QLatin1String(".bin")) ? name.chopped(4) : name;
}

QString RunDocument::boardName() const {
    return QString::fromStdString(board().name);
}

QString RunDocument::audioName() const {
    return QFileInfo(QString::fromStdString(m_content->audio())).fileName();
}

QString RunDocument::title() const {
    if (!m_content->hasRun())
        return {};
    QString title = modelName();
    if (!boardName().isEmpty())
        title = tr("%1 on %2").arg(title, boardName());
    return audioName().isEmpty() ? title : tr("%1, %2").arg(title, audioName());
}

void RunDocument::setState(State state, const QString& errorLine) {
    m_state = state;
    m_errorLine = errorLine;
    emit stateChanged();
}

void RunDocument::clear() {
    m_content = std::make_unique<RunContent>();
    m_uuid.clear();
    emit replaced();
    emit transcriptChanged();
    setState(State::Empty);
}

void RunDocument::beginLive() {
    clear();
    setState(State::Running);
}

void RunDocument::addFrame(const trace::Frame& frame) {
    if (m_state != State::Running)
        return;
    const std::size_t events = trace().events.size();
    const std::size_t letters = m_content->text().size();
    const bool hadRun = m_content->hasRun();
    if (base::Status status = m_content->add(frame); !status) {
        setState(State::Failed, QString::fromStdString(status.error().line()));
        return;
    }
    if (!hadRun && m_content->hasRun())
        emit stateChanged();
    if (trace().events.size() > events)
        emit eventsAppended(static_cast<qsizetype>(events));
    if (m_content->text().size() != letters)
        emit transcriptChanged();
}

void RunDocument::endLive(const std::optional<base::Error>& error) {
    if (m_state != State::Running)
        return;
    State state = m_content->ending();
    if (state == State::Empty)
        state = State::Failed;
    const auto& told = m_content->error() ? m_content->error() : error;
    setState(state, told ? QString::fromStdString(told->line()) : QString());
}

void RunDocument::adopt(RunContent content) {
    m_content = std::make_unique<RunContent>(std::move(content));
    m_uuid.clear();
    emit replaced();
    emit transcriptChanged();
    QString line;
    if (m_content->error())
        line = QString::fromStdString(m_content->error()->line());
    else if (m_content->ending() == State::Partial)
        line = tr("the recording ends before the run does; what was recorded is shown");
    setState(m_content->ending(), line);
}

base::Status RunDocument::open(const QString& path) {
    auto content = readRunFile(path.toStdString());
    if (!content)
        return content.error();
    adopt(std::move(*content));
    return {};
}

} // namespace shardscope::app
