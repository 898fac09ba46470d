// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/ssh_question_card.h"

#include <QDialog>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/kit/parts.h"

namespace shardscope::ui {

using app::SshQuestion;
using Kind = SshQuestion::Kind;

namespace {

QString titleOf(const SshQuestion& question) {
    switch (question.kind) {
    case Kind::NewHost:
        return SshQuestionCard::tr("%1 is met for the first time").arg(question.title);
    case Kind::Passphrase:
        return SshQuestionCard::tr("Passphrase of the key");
    case Kind::Interactive:
    case Kind::Password:
        break;
    }
    return SshQuestionCard::tr("Log in to %1").arg(question.title);
}

} // namespace

SshQuestionCard::SshQuestionCard(const SshQuestion& question, QWidget* parent) : QFrame(parent) {
    setProperty("look", "card");
    setObjectName(QStringLiteral("ssh.question"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(18, 14, 18, 14);
    column->setSpacing(8);
    column->addWidget(label(titleOf(question), "section"));
    if (!question.detail.isEmpty()) {
        auto* detail = label(question.detail, "muted");
        detail->setWordWrap(true);
        column->addWidget(detail);
    }
    if (question.kind == Kind::NewHost)
        addFingerprint(question);
    else
        addPrompts(question);

    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addStretch();
    auto* no = button(tr("Cancel"));
    auto* yes =
        button(question.kind == Kind::NewHost ? tr("Trust this board") : tr("Continue"), "primary");
    yes->setObjectName(QStringLiteral("ssh.yes"));
    yes->setDefault(question.kind != Kind::NewHost); // trust is a decision, not a key stroke
    row->addWidget(no);
    row->addWidget(yes);
    column->addLayout(row);
    connect(no, &QPushButton::clicked, this, &SshQuestionCard::refused);
    connect(yes, &QPushButton::clicked, this, [this] {
        QStringList texts;
        for (QLineEdit* field : std::as_const(m_fields)) {
            texts << field->text();
            field->clear();
        }
        emit answered(texts);
    });
    for (QLineEdit* field : std::as_const(m_fields))
        connect(field, &QLineEdit::returnPressed, yes, &QPushButton::click);
    if (!m_fields.isEmpty())
        setFocusProxy(m_fields.first());
}

void SshQuestionCard::addFingerprint(const SshQuestion& question) {
    auto* column = static_cast<QVBoxLayout*>(layout());
    auto* print =
        label(QStringLiteral("%1  %2").arg(question.keyType, question.fingerprint), "value");
    print->setTextInteractionFlags(Qt::TextSelectableByMouse);
    print->setWordWrap(true);
    column->addWidget(print);
    auto* hint = label(
        tr("Compare it on the board: ssh-keygen -lf /etc/ssh/ssh_host_%1_key.pub")
            .arg(question.keyType),
        "muted");
    hint->setWordWrap(true);
    hint->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(hint);
}

void SshQuestionCard::addPrompts(const SshQuestion& question) {
    auto* column = static_cast<QVBoxLayout*>(layout());
    for (const SshQuestion::Prompt& prompt : question.prompts) {
        auto* field = new QLineEdit;
        field->setEchoMode(prompt.shown ? QLineEdit::Normal : QLineEdit::Password);
        auto* name = label(prompt.text, "muted");
        name->setBuddy(field);
        column->addWidget(name);
        column->addWidget(field);
        m_fields << field;
    }
}

void askInWindow(app::QuestionBox& questions, QWidget* window) {
    QObject::connect(
        &questions, &app::QuestionBox::asked, window,
        [box = QPointer<app::QuestionBox>(&questions),
         window](quint64 number, const SshQuestion& question) {
            auto* dialog = new QDialog(window);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->setWindowTitle(question.title);
            auto* column = new QVBoxLayout(dialog);
            auto* card = new SshQuestionCard(question);
            column->addWidget(card);
            dialog->setMinimumWidth(460);
            QObject::connect(
                card, &SshQuestionCard::answered, dialog, [box, number, dialog](auto& texts) {
                    if (box)
                        box->answer(number, texts);
                    dialog->accept();
                });
            QObject::connect(card, &SshQuestionCard::refused, dialog, &QDialog::reject);
            QObject::connect(dialog, &QDialog::rejected, dialog, [box, number] {
                if (box)
                    box->refuse(number);
            });
            if (box) // the connection is gone: nobody waits for the answer
                QObject::connect(box, &QObject::destroyed, dialog, &QDialog::reject);
            dialog->open();
            card->setFocus();
        });
}

} // namespace shardscope::ui
