// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <thread>

#include <QList>
#include <QObject>

#include <nlohmann/json.hpp>

#include "app/remote/ssh/questions.h"
#include "app/remote/ssh/ssh_options.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// One step of the way to a board that can run something.
struct BoardStep {
    enum class State { Waiting, Running, Passed, Warned, Failed };
    QString id;    ///< "connect", "trust", "login", "key", "system", "folder", "space", "agent",
                   ///< "handshake", "doctor"
    QString title; ///< for people
    State state = State::Waiting;
    QString detail; ///< what was found, or what is wrong
    QString mend;   ///< what to do about it; may be empty
};

/// What the steps have found out.
struct BoardFacts {
    QString address; ///< with ~/.ssh/config taken into account: "pi@10.0.0.7:22"
    QString machine; ///< `uname -m`
    QString system;  ///< "Linux 6.1.0"
    QString folder;  ///< ours, on the board
    QString agentVersion;
    qint64 freeBytes = -1;
    double clockAheadMs = 0; ///< of the board's clock, against ours
    nlohmann::ordered_json
        doctor; ///< {"worst", "findings": [{"check", "severity", "what", "mend"}]}
};

/// Walks up to a board step by step: connects, checks its key, logs in, looks around, puts the
/// agent there, greets it, and lets it examine itself. The first step that fails ends it. It works
/// on a thread of its own. GUI thread only; made for one walk.
class BoardCheck : public QObject {
    Q_OBJECT
public:
    explicit BoardCheck(
        SshTarget target, SshOptions options = SshOptions::standard(), QObject* parent = nullptr);
    /// Cuts the connection; takes some milliseconds.
    ~BoardCheck() override;

    /// Questions of the connection: connect to its signal before start(), or nobody is asked.
    QuestionBox& questions() { return m_questions; }
    /// Adds the step "key" after the login: puts the public half of the chosen identity on the
    /// board. Before start().
    void authorizeIdentity();
    const QList<BoardStep>& steps() const { return m_steps; }
    const BoardFacts& facts() const { return m_facts; }
    bool isRunning() const { return m_running; }

    void start();
    /// finished() follows, with the step that was under way failed.
    void stop();

signals:
    void stepChanged(int index);
    /// `error` is what the failed step said.
    void finished(const std::optional<shardscope::base::Error>& error);

private:
    class Walk;
    void show(int index, const BoardStep& step);

    SshTarget m_target;
    SshOptions m_options;
    QuestionBox m_questions;
    std::shared_ptr<Wake> m_wake;
    QList<BoardStep> m_steps;
    BoardFacts m_facts;
    std::thread m_worker;
    bool m_running = false;
};

} // namespace shardscope::app
