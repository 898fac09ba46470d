// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QList>
#include <QStringList>

#include "app/remote/ssh/questions.h"

class QLineEdit;

namespace shardscope::ui {

/// One question of a connection: the fingerprint of a host that is met for the first time, or
/// fields for a password, a passphrase, or whatever the server asks. What is typed is given once
/// and kept nowhere.
class SshQuestionCard : public QFrame {
    Q_OBJECT
public:
    explicit SshQuestionCard(const app::SshQuestion& question, QWidget* parent = nullptr);

signals:
    void answered(const QStringList& texts);
    void refused();

private:
    void addFingerprint(const app::SshQuestion& question);
    void addPrompts(const app::SshQuestion& question);

    QList<QLineEdit*> m_fields;
};

/// Shows the questions of a connection in dialogs over `window`, one after the other, as long as
/// both live.
void askInWindow(app::QuestionBox& questions, QWidget* window);

} // namespace shardscope::ui
