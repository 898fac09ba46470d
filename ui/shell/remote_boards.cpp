// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/remote_boards.h"

#include <QMessageBox>
#include <QPushButton>

#include "app/remote/ssh/ssh_transport.h"
#include "sim_engine/plan/board_profile.h"
#include "ui/shell/board_wizard.h"
#include "ui/shell/ssh_question_card.h"

namespace shardscope::ui {
namespace {

constexpr std::chrono::minutes kMeasuring{5};

QString line(const base::Error& error) {
    return QString::fromStdString(error.line());
}

} // namespace

RemoteBoards::RemoteBoards(app::RunStore* store, QWidget* window)
    : QObject(window), m_store(store), m_window(window) {}

std::unique_ptr<app::Transport> RemoteBoards::transportTo(
    const app::RemoteBoard& board, const std::function<void(app::QuestionBox&)>& asks) {
    const auto target = app::parseSshTarget(board.address);
    app::SshOptions options = app::SshOptions::standard();
    options.identity = board.identity;
    options.folder = board.folder;
    auto transport = std::make_unique<app::SshTransport>(
        target ? *target : app::SshTarget{{}, board.address, 0}, options);
    asks(transport->questions());
    return transport;
}

void RemoteBoards::add() {
    openWizard({});
}

void RemoteBoards::test(const QString& name) {
    if (const auto board = m_store->remoteBoard(name); board && *board)
        openWizard(**board);
}

void RemoteBoards::openWizard(const app::RemoteBoard& board) {
    auto* wizard = new BoardWizard(m_store, board, app::SshOptions::standard(), m_window);
    wizard->setAttribute(Qt::WA_DeleteOnClose);
    wizard->open();
}

void RemoteBoards::measure(const QString& name) {
    const auto board = m_store->remoteBoard(name);
    if (!board || !*board)
        return;
    if (m_measuring)
        return emit failed(tr("A board is being measured already."));
    auto* session = new app::AgentSession(
        transportTo(**board, [this](app::QuestionBox& box) { askInWindow(box, m_window); }), this);
    m_measuring = session;
    connect(session, &app::AgentSession::phaseChanged, this, &RemoteBoards::noted);
    connect(session, &app::AgentSession::ready, this, [this, session, name] {
        emit noted(tr("Measuring %1, which takes about a minute...").arg(name));
        session->request("probe", {}, kMeasuring, [this, session, name](const auto& answer) {
            keepProfile(name, answer);
            session->stop();
        });
    });
    connect(session, &app::AgentSession::ended, this, [this, session](const auto& why) {
        if (why)
            emit failed(line(*why));
        session->deleteLater();
        m_measuring.clear();
    });
    session->start();
}

void RemoteBoards::keepProfile(
    const QString& name, const base::Result<nlohmann::ordered_json>& answer) {
    if (!answer)
        return emit failed(line(answer.error()));
    auto profile = plan::profileFromJson(*answer);
    if (!profile)
        return emit failed(line(profile.error()));
    profile->name = name.toStdString();
    if (const base::Status status = m_store->saveBoard(*profile); !status)
        return emit failed(line(status.error()));
    emit noted(tr("%1 is measured.").arg(name));
}

void RemoteBoards::remove(const QString& name) {
    auto* box = new QMessageBox(
        QMessageBox::Question, tr("Remove %1?").arg(name),
        tr("Remove the board %1 from this list?").arg(name), QMessageBox::Cancel | QMessageBox::Yes,
        m_window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(
        tr("Its runs stay. What was put on the board stays there, in its cache folder."));
    box->button(QMessageBox::Yes)->setText(tr("Remove"));
    box->setDefaultButton(QMessageBox::Cancel);
    connect(box, &QMessageBox::finished, this, [this, name](int answer) {
        if (answer != QMessageBox::Yes)
            return;
        if (const base::Status status = m_store->removeRemoteBoard(name); !status)
            emit failed(line(status.error()));
    });
    box->open();
}

} // namespace shardscope::ui
