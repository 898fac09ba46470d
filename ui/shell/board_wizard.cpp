// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/board_wizard.h"

#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QGridLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include "ui/kit/parts.h"
#include "ui/shell/ssh_question_card.h"

namespace shardscope::ui {

using app::BoardStep;
using State = BoardStep::State;

namespace {

struct Mark {
    const char* icon;
    IconTone tone;
};

Mark markOf(State state) {
    switch (state) {
    case State::Waiting:
        return {"step-forward", IconTone::Muted};
    case State::Running:
        return {"play", IconTone::Accent};
    case State::Passed:
        return {"check", IconTone::Good};
    case State::Warned:
        return {"warning", IconTone::Warning};
    case State::Failed:
        break;
    }
    return {"close", IconTone::Error};
}

/// "rock" of "pi@rock.local:22": what the user will call it.
QString nameFrom(const app::SshTarget& target) {
    const bool isAddress = target.host.contains(QLatin1Char(':')) ||
                           target.host.section(QLatin1Char('.'), -1).toInt() > 0;
    return isAddress ? target.host : target.host.section(QLatin1Char('.'), 0, 0);
}

} // namespace

BoardWizard::BoardWizard(
    app::RunStore* store, const app::RemoteBoard& board, app::SshOptions options, QWidget* parent)
    : QDialog(parent), m_store(store), m_board(board), m_options(std::move(options)),
      m_address(new QLineEdit(board.address)), m_name(new QLineEdit(board.name)),
      m_identity(new QLineEdit(board.identity)),
      m_authorize(new QCheckBox(tr("Put the public half of the key on the board"))),
      m_steps(new QGridLayout), m_questionPlace(new QVBoxLayout), m_outcome(label({}, "muted")),
      m_start(button(tr("Test"), "primary")), m_stop(button(tr("Stop"), "danger")),
      m_close(button(tr("Close"))) {
    const bool isNew = board.name.isEmpty();
    setWindowTitle(isNew ? tr("Add a board") : tr("Test %1").arg(board.name));
    setMinimumSize(620, 640);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(26, 22, 26, 20);
    column->setSpacing(14);
    column->addWidget(label(windowTitle(), "title"));
    auto* about = label(
        tr("It needs SSH and nothing else: the agent is put there, no port is opened. Passwords "
           "are asked when they are needed and kept nowhere."),
        "muted");
    about->setWordWrap(true);
    column->addWidget(about);
    column->addLayout(makeForm());
    column->addWidget(line());
    m_steps->setColumnStretch(2, 1);
    m_steps->setHorizontalSpacing(12);
    m_steps->setVerticalSpacing(7);
    column->addLayout(m_steps);
    column->addLayout(m_questionPlace);
    column->addStretch();
    m_outcome->setWordWrap(true);
    m_outcome->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_outcome);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addStretch();
    for (QPushButton* b : {m_close, m_stop, m_start})
        row->addWidget(b);
    column->addLayout(row);

    m_start->setObjectName(QStringLiteral("wizard.start"));
    m_address->setObjectName(QStringLiteral("wizard.address"));
    m_start->setDefault(true);
    connect(m_start, &QPushButton::clicked, this, &BoardWizard::start);
    connect(m_stop, &QPushButton::clicked, this, &BoardWizard::stop);
    connect(m_close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_address, &QLineEdit::textChanged, this, &BoardWizard::showButtons);
    connect(m_identity, &QLineEdit::textChanged, this, &BoardWizard::showButtons);
    showButtons();
    m_address->setFocus();
}

BoardWizard::~BoardWizard() = default;

QGridLayout* BoardWizard::makeForm() {
    auto* form = new QGridLayout;
    form->setHorizontalSpacing(14);
    form->setVerticalSpacing(8);
    m_address->setPlaceholderText(
        tr("pi@192.168.1.20, root@board:2222, or a Host of ~/.ssh/config"));
    m_name->setPlaceholderText(tr("as you call it; else the name of the host"));
    m_identity->setPlaceholderText(tr("whatever ssh-agent and ~/.ssh offer"));
    auto* browse = button(tr("Choose..."));
    connect(browse, &QPushButton::clicked, this, &BoardWizard::chooseKey);
    const auto add = [&](int row, const QString& name, QLineEdit* field) {
        auto* words = label(name, "muted");
        words->setBuddy(field);
        form->addWidget(words, row, 0);
        form->addWidget(field, row, 1);
    };
    add(0, tr("&Address"), m_address);
    add(1, tr("&Name"), m_name);
    add(2, tr("&Key file"), m_identity);
    form->addWidget(browse, 2, 2);
    form->addWidget(m_authorize, 3, 1);
    form->setColumnStretch(1, 1);
    return form;
}

void BoardWizard::chooseKey() {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("A private key"), QDir(m_options.sshFolder).path());
    if (!file.isEmpty())
        m_identity->setText(file);
}

void BoardWizard::start() {
    if (m_check && m_check->isRunning())
        return;
    m_outcome->clear();
    auto target = app::parseSshTarget(m_address->text().trimmed());
    if (!target) {
        setLook(m_outcome, "bad");
        return m_outcome->setText(QString::fromStdString(target.error().line()));
    }
    m_board.address = target->text();
    m_board.identity = m_identity->text().trimmed();
    m_board.name = m_name->text().trimmed();
    if (m_board.name.isEmpty())
        m_board.name = nameFrom(*target);
    app::SshOptions options = m_options;
    options.identity = m_board.identity;
    options.folder = m_board.folder;
    m_check = std::make_unique<app::BoardCheck>(*target, options);
    if (m_authorize->isChecked() && !m_board.identity.isEmpty())
        m_check->authorizeIdentity();
    connect(&m_check->questions(), &app::QuestionBox::asked, this, &BoardWizard::ask);
    connect(m_check.get(), &app::BoardCheck::stepChanged, this, &BoardWizard::showStep);
    connect(m_check.get(), &app::BoardCheck::finished, this, &BoardWizard::finish);
    makeRows();
    m_check->start();
    showButtons();
}

void BoardWizard::stop() {
    if (m_check)
        m_check->stop();
}

void BoardWizard::makeRows() {
    for (const Row& row : std::as_const(m_rows)) {
        delete row.icon;
        delete row.title;
        delete row.detail;
    }
    m_rows.clear();
    for (qsizetype i = 0; i < m_check->steps().size(); ++i) {
        const Row row{
            new IconLabel(QStringLiteral("step-forward"), IconTone::Muted, 16),
            label(m_check->steps()[i].title), label({}, "muted")};
        row.detail->setWordWrap(true);
        row.detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
        const int at = static_cast<int>(i);
        m_steps->addWidget(row.icon, at, 0, Qt::AlignTop);
        m_steps->addWidget(row.title, at, 1, Qt::AlignTop);
        m_steps->addWidget(row.detail, at, 2);
        m_rows << row;
        showStep(at);
    }
}

void BoardWizard::showStep(int index) {
    const BoardStep& step = m_check->steps()[index];
    const Row& row = m_rows[index];
    const Mark mark = markOf(step.state);
    row.icon->show(QString::fromLatin1(mark.icon), mark.tone);
    setLook(row.title, step.state == State::Waiting ? "muted" : "");
    setLook(row.detail, step.state == State::Failed ? "bad" : "muted");
    row.detail->setText(
        step.mend.isEmpty() ? step.detail : step.detail + QStringLiteral("\n") + step.mend);
}

void BoardWizard::ask(quint64 number, const app::SshQuestion& question) {
    auto* card = new SshQuestionCard(question);
    m_questionPlace->addWidget(card);
    card->setFocus();
    connect(card, &SshQuestionCard::answered, this, [this, card, number](const QStringList& texts) {
        card->deleteLater();
        m_check->questions().answer(number, texts);
    });
    connect(card, &SshQuestionCard::refused, this, [this, card, number] {
        card->deleteLater();
        m_check->questions().refuse(number);
    });
    connect(m_check.get(), &app::BoardCheck::finished, card, &QObject::deleteLater);
}

void BoardWizard::finish(const std::optional<base::Error>& error) {
    setLook(m_outcome, error ? "bad" : "good");
    if (error)
        m_outcome->setText(QString::fromStdString(error->line()));
    else
        m_outcome->setText(
            tr("%1 is ready. Measure it on the boards page, then plan and run on it.")
                .arg(m_board.name));
    if (!error)
        save();
    showButtons();
}

void BoardWizard::save() {
    const app::BoardFacts& facts = m_check->facts();
    m_board.machine = facts.machine;
    m_board.agent = facts.agentVersion;
    m_board.state = QStringLiteral("ready");
    m_board.lastSeen = QDateTime::currentDateTime();
    if (facts.doctor.is_object())
        m_board.doctor = QString::fromStdString(facts.doctor.dump());
    if (const base::Status status = m_store->saveRemoteBoard(m_board); !status) {
        setLook(m_outcome, "bad");
        return m_outcome->setText(QString::fromStdString(status.error().line()));
    }
    m_name->setText(m_board.name);
    emit added(m_board.name);
}

void BoardWizard::showButtons() {
    const bool isRunning = m_check && m_check->isRunning();
    m_start->setEnabled(!isRunning && !m_address->text().trimmed().isEmpty());
    m_start->setText(m_check && !isRunning ? tr("Test again") : tr("Test"));
    m_stop->setVisible(isRunning);
    m_authorize->setEnabled(!isRunning && !m_identity->text().trimmed().isEmpty());
    for (QLineEdit* field : {m_address, m_name, m_identity})
        field->setEnabled(!isRunning);
}

} // namespace shardscope::ui
