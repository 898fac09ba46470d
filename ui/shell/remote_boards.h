// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>
#include <QPointer>

#include "app/remote/agent_session.h"
#include "app/remote/ssh/questions.h"
#include "app/remote/transport.h"
#include "app/store/run_store.h"

namespace shardscope::ui {

/// What the window does with boards that are reached over SSH, beside running on them: add, test,
/// measure, remove. GUI thread only.
class RemoteBoards : public QObject {
    Q_OBJECT
public:
    /// The store must outlive this; dialogs stand over `window`.
    RemoteBoards(app::RunStore* store, QWidget* window);

    void add();
    void test(const QString& name);
    /// Lets the board's agent measure it, and keeps the profile under the board's name.
    void measure(const QString& name);
    /// Asks first.
    void remove(const QString& name);

    /// The way to a board; its questions go to `asks`.
    static std::unique_ptr<app::Transport>
    transportTo(const app::RemoteBoard& board, const std::function<void(app::QuestionBox&)>& asks);

signals:
    /// A word for the status line.
    void noted(const QString& line);
    void failed(const QString& line);

private:
    void openWizard(const app::RemoteBoard& board);
    void keepProfile(const QString& name, const base::Result<nlohmann::ordered_json>& answer);

    app::RunStore* m_store;
    QWidget* m_window;
    QPointer<app::AgentSession> m_measuring;
};

} // namespace shardscope::ui
