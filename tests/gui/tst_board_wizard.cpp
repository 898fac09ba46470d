// SPDX-License-Identifier: GPL-3.0-or-later
// Adding a board by hand: the dialog with real gestures against a real sshd, and the board's page.
#include <QCheckBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/integration/ssh_server.h"
#include "ui/pages/boards_page.h"
#include "ui/shell/board_wizard.h"
#include "ui/shell/session.h"
#include "ui/shell/ssh_question_card.h"

using namespace shardscope;
using namespace shardscope::ui;
using testing::SshServer;

class TestBoardWizard : public QObject {
    Q_OBJECT

    QTemporaryDir m_home;
    std::unique_ptr<SshServer> m_server;
    std::unique_ptr<Session> m_session;

    std::unique_ptr<BoardWizard> open(const app::RemoteBoard& board = {}) const {
        auto wizard = std::make_unique<BoardWizard>(m_session->store(), board, m_server->options());
        wizard->show();
        (void)QTest::qWaitForWindowExposed(wizard.get());
        return wizard;
    }
    static void type(QWidget& wizard, const char* field, const QString& text) {
        auto* edit = wizard.findChild<QLineEdit*>(QLatin1String(field));
        QVERIFY(edit);
        edit->setFocus();
        edit->clear();
        QTest::keyClicks(edit, text);
    }
    static void press(QWidget& wizard, const char* name) {
        auto* button = wizard.findChild<QPushButton*>(QLatin1String(name));
        QVERIFY(button);
        QTest::mouseClick(button, Qt::LeftButton);
    }
    /// The steps, for the message of a test that fails.
    static QString saidBy(const BoardWizard& wizard) {
        QStringList lines;
        for (const app::BoardStep& step : wizard.check()->steps())
            lines << step.title + QStringLiteral(": ") + step.detail;
        return lines.join(QStringLiteral("; "));
    }
    static bool shows(const QWidget& wizard, const QString& words) {
        for (const QLabel* label : wizard.findChildren<QLabel*>())
            if (label->text().contains(words))
                return true;
        return false;
    }

private slots:
    void initTestCase() { qputenv("SHARDSCOPE_AGENT", PROGRAMS_DIR "/shardscope-agent"); }
    void init() {
        if (SshServer::program().isEmpty())
            QSKIP("openssh-server is not installed");
        m_server = std::make_unique<SshServer>();
        QVERIFY2(m_server->start(), m_server->said().constData());
        m_session = std::make_unique<Session>(app::DataPaths{m_home.filePath("data")});
    }
    void cleanup() {
        m_session.reset();
        m_server.reset();
        QDir(m_home.filePath("data")).removeRecursively();
    }

    void aBoardIsTrustedTestedAndKept() {
        auto wizard = open();
        QVERIFY(!wizard->findChild<QPushButton*>("wizard.start")->isEnabled());
        type(*wizard, "wizard.address", m_server->address());
        auto* key = wizard->findChildren<QLineEdit*>().last();
        key->setText(m_server->userKey());
        QSignalSpy added(wizard.get(), &BoardWizard::added);
        press(*wizard, "wizard.start");
        QTRY_VERIFY_WITH_TIMEOUT(wizard->findChild<SshQuestionCard*>(), 20000);
        QVERIFY(shows(*wizard, QStringLiteral("SHA256:")));
        press(*wizard, "ssh.yes");
        QTRY_VERIFY_WITH_TIMEOUT(!wizard->check()->isRunning(), 60000);
        QVERIFY2(!added.isEmpty(), qPrintable(saidBy(*wizard)));
        QVERIFY(shows(*wizard, QStringLiteral("is ready")));
        const QString name = added.first().first().toString();
        const auto kept = m_session->store()->remoteBoard(name);
        QVERIFY(kept.ok() && kept->has_value());
        QCOMPARE((*kept)->state, QStringLiteral("ready"));
        QVERIFY(!(*kept)->machine.isEmpty());

        BoardsPage page;
        page.setBoards(m_session->boards());
        const auto& boards = page.boards();
        const auto found = std::find_if(
            boards.begin(), boards.end(), [](const auto& b) { return b.remote.has_value(); });
        QVERIFY(found != boards.end());
        QVERIFY(found->connected);
        QVERIFY(!found->measured);

        // What its doctor found stands on its page.
        page.resize(1200, 900);
        page.show();
        page.findChild<QListWidget*>("boards.list")
            ->setCurrentRow(static_cast<int>(found - boards.begin()));
        QVERIFY(shows(page, QStringLiteral("Doctor")));
        const auto findings =
            QJsonDocument::fromJson((*kept)->doctor.toUtf8())["findings"].toArray();
        QVERIFY(!findings.isEmpty());
        for (const QJsonValue& finding : findings) {
            const bool isFine = finding["severity"].toString() == QLatin1String("good");
            const QString words = finding[isFine ? "check" : "what"].toString();
            QVERIFY(shows(page, isFine ? QString(words).replace('_', ' ') : words));
        }
    }

    void refusingTheKeyEndsTheTestWithAClearWord() {
        auto wizard = open();
        type(*wizard, "wizard.address", m_server->address());
        press(*wizard, "wizard.start");
        QTRY_VERIFY_WITH_TIMEOUT(wizard->findChild<SshQuestionCard*>(), 20000);
        emit wizard->findChild<SshQuestionCard*>()->refused();
        QTRY_VERIFY_WITH_TIMEOUT(!wizard->check()->isRunning(), 20000);
        QVERIFY(wizard->check()->steps().first().state == app::BoardStep::State::Passed);
        QVERIFY(m_session->store()->remoteBoards()->isEmpty());
    }

    void anAddressThatIsNoneIsToldAtOnce() {
        auto wizard = open();
        type(*wizard, "wizard.address", QStringLiteral("-oProxyCommand=x@y"));
        press(*wizard, "wizard.start");
        QVERIFY(!wizard->check());
    }

    void closingTheDialogCutsTheConnection() {
        auto wizard = open();
        type(*wizard, "wizard.address", m_server->address());
        press(*wizard, "wizard.start");
        QTRY_VERIFY_WITH_TIMEOUT(wizard->findChild<SshQuestionCard*>(), 20000);
        wizard.reset(); // while a question waits
        QTRY_VERIFY_WITH_TIMEOUT(m_server->sessions().isEmpty(), 20000);
    }
};

QTEST_MAIN(TestBoardWizard)
#include "tst_board_wizard.moc"
