// SPDX-License-Identifier: GPL-3.0-or-later
// What is put on a board, and the agent there, over a real sshd.
#include <csignal>
#include <cstring>
#include <sys/mount.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QSignalSpy>
#include <QtTest>

#include "app/remote/agent_session.h"
#include "app/remote/run_controller.h"
#include "app/remote/ssh/authorize_key.h"
#include "app/remote/ssh/board_check.h"
#include "app/remote/ssh/board_upload.h"
#include "app/remote/ssh/file_hash.h"
#include "app/remote/ssh/ssh_connect.h"
#include "app/remote/ssh/ssh_transport.h"
#include "tests/integration/scripted_questions.h"
#include "tests/integration/ssh_server.h"

using namespace shardscope;
using namespace app;
using namespace std::chrono_literals;
using testing::SshServer;

namespace {

/// A file system of its own of a few MiB; only root may mount one.
class SmallDisk {
public:
    explicit SmallDisk(const QString& place) : m_place(place.toUtf8()) {
        QDir().mkpath(place);
        m_mounted = ::mount("tmpfs", m_place.constData(), "tmpfs", 0, "size=4m") == 0;
    }
    ~SmallDisk() {
        if (m_mounted)
            ::umount2(m_place.constData(), MNT_DETACH);
    }
    bool isThere() const { return m_mounted; }
    bool makeReadOnly() {
        return ::mount("tmpfs", m_place.constData(), "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0;
    }

private:
    QByteArray m_place;
    bool m_mounted = false;
};

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList filesIn(const QString& folder) {
    QStringList names;
    QDirIterator all(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (all.hasNext())
        names.append(all.next().mid(folder.size() + 1));
    names.sort();
    return names;
}

} // namespace

class TestSshBoard : public QObject {
    Q_OBJECT

    std::unique_ptr<SshServer> m_server;
    testing::ScriptedQuestions m_questions;
    std::shared_ptr<Wake> m_wake;
    SshOptions m_options;
    std::unique_ptr<SshLink> m_link;
    std::vector<qint64> m_progress;

    void start() {
        QVERIFY2(m_server->start(), m_server->said().constData());
        m_options = m_server->options();
        m_options.acceptNewHost = true;
        connectAgain();
    }
    void connectAgain() {
        m_wake = std::make_shared<Wake>();
        auto link = testing::connectBoard(
            *resolveRoute(m_server->target(), m_options), m_options, m_questions, m_wake);
        QVERIFY2(link.ok(), link ? "" : link.error().line().c_str());
        m_link = std::move(*link);
    }
    /// A file of bytes that do not repeat.
    BoardFile fileOf(const QString& name, qint64 size) {
        BoardFile board;
        board.local = m_server->path(name);
        QFile file(board.local);
        QCryptographicHash hash(QCryptographicHash::Sha256);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write");
        QByteArray piece(1 << 20, Qt::Uninitialized);
        quint64 state = 88172645463325252ULL;
        for (qint64 done = 0; done < size; done += piece.size()) {
            if (size - done < piece.size())
                piece.truncate(size - done);
            for (qsizetype i = 0; i + 8 <= piece.size(); i += 8) {
                state ^= state << 13, state ^= state >> 7, state ^= state << 17;
                std::memcpy(piece.data() + i, &state, 8);
            }
            hash.addData(piece);
            file.write(piece);
        }
        board.sha256 = hash.result().toHex();
        board.remote = remoteName("models", board.sha256, name);
        return board;
    }
    base::Result<QString> upload(const BoardFile& file) {
        auto survey = surveyBoard(*m_link, m_options);
        if (!survey)
            return survey.error();
        m_progress.clear();
        return uploadFile(
            *m_link, *survey, file, [this](qint64 done, qint64) { m_progress.push_back(done); });
    }
    QString board() const { return m_server->path("board/shardscope"); }

private slots:
    void initTestCase() {
        if (SshServer::program().isEmpty())
            QSKIP("sshd is not installed");
        qputenv("SHARDSCOPE_AGENT", PROGRAMS_DIR "/shardscope-agent");
    }
    void init() {
        m_server = std::make_unique<SshServer>();
        m_questions = {};
    }
    void cleanup() {
        m_link.reset();
        m_server.reset();
    }

    void theSurveySaysWhatIsThere() {
        start();
        auto survey = surveyBoard(*m_link, m_options);
        QVERIFY2(survey.ok(), survey ? "" : survey.error().line().c_str());
        QCOMPARE(survey->system, QString("Linux"));
        QCOMPARE(survey->machine, QSysInfo::currentCpuArchitecture());
        QCOMPARE(survey->folder, board());
        QVERIFY(survey->writable);
        QVERIFY(survey->freeBytes > 0);
        QVERIFY(survey->hasSha256);
        QVERIFY(survey->files.empty());
    }
    void greetingsOfAShellAreNotTakenForAnswers() {
        m_server->add("Banner " + m_server->path("banner"));
        m_server->add("ForceCommand echo 'shardscope:x'; echo hello; echo noise >&2; "
                      "eval \"$SSH_ORIGINAL_COMMAND\"");
        QFile banner(m_server->path("banner"));
        QVERIFY(banner.open(QIODevice::WriteOnly));
        banner.write("Authorized use only!\n");
        banner.close();
        start();
        const BoardFile file = fileOf("m.bin", 100'000);
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QCOMPARE(contents(*path), contents(file.local));
    }
    void aFileIsUploadedOnce() {
        start();
        const BoardFile file = fileOf("it's a \"$(model)\".bin", 3'000'000);
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QCOMPARE(contents(*path), contents(file.local));
        QCOMPARE(m_progress.back(), 3'000'000);
        QVERIFY(!(QFile::permissions(*path) & (QFile::ReadGroup | QFile::ReadOther)));
        QCOMPARE(*upload(file), *path);
        QVERIFY(m_progress.empty());
        QCOMPARE(filesIn(board()).size(), 1);
    }
    void anEmptyFileIsUploadedToo() {
        start();
        auto path = upload(fileOf("empty", 0));
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QVERIFY(QFile::exists(*path));
    }
    void aFolderWithAStrangeNameIsTaken() {
        start();
        m_options.folder = m_server->path("it's $HOME; \"x\" *");
        const BoardFile file = fileOf("m.bin", 1000);
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QVERIFY(path->startsWith(m_options.folder));
        QCOMPARE(contents(*path), contents(file.local));
        QCOMPARE(*upload(file), *path);
        QVERIFY(m_progress.empty());
    }
    void anUploadThatWasCutGoesOn() {
        start();
        const BoardFile file = fileOf("large.bin", 200'000'000);
        bool cut = false;
        auto survey = surveyBoard(*m_link, m_options);
        auto broken = uploadFile(*m_link, *survey, file, [&](qint64 done, qint64 all) {
            if (done < all / 2 || std::exchange(cut, true))
                return;
            m_server->cutSessions();
        });
        QVERIFY(!broken.ok());
        QCOMPARE(broken.error().code, base::ErrorCode::Connection);
        const QString part = board() + '/' + file.remote + ".part";
        QTRY_VERIFY(QFile::exists(part));
        QVERIFY(!QFile::exists(board() + '/' + file.remote));
        connectAgain();
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QVERIFY2(m_progress.front() > 50'000'000, QByteArray::number(m_progress.front()));
        QCOMPARE(*fileHash(*path, *m_wake, [](double) {}), file.sha256);
        QVERIFY(!QFile::exists(part));
    }
    void aModelIsUploadedAtTheSpeedOfTheLink() {
        start();
        constexpr qint64 kSize = 80'000'000;
        const BoardFile file = fileOf("model.bin", kSize);
        QElapsedTimer clock;
        clock.start();
        qint64 sentMs = 0;
        auto survey = surveyBoard(*m_link, m_options);
        auto path = uploadFile(*m_link, *survey, file, [&](qint64 done, qint64) {
            if (done == kSize)
                sentMs = clock.elapsed();
        });
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        const auto rate = [](qint64 ms) { return double(kSize) / 1e3 / double(ms); };
        qInfo(
            "%.0f MB/s over the link, %.0f with sync and hash there", rate(sentMs),
            rate(clock.elapsed()));
        QCOMPARE(*fileHash(*path, *m_wake, [](double) {}), file.sha256);
    }
    void aDamagedBeginningIsSentAgain() {
        start();
        const BoardFile file = fileOf("m.bin", 500'000);
        const QString part = board() + '/' + file.remote + ".part";
        QDir().mkpath(QFileInfo(part).path());
        QFile damaged(part);
        QVERIFY(damaged.open(QIODevice::WriteOnly));
        damaged.write(QByteArray(200'000, 'x'));
        damaged.close();
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QCOMPARE(contents(*path), contents(file.local));
    }
    void aBoardWithoutSha256sumIsReadBack() {
        const QString tools = m_server->path("tools");
        QDir().mkpath(tools);
        for (const char* name :
             {"sh", "cat", "ls", "mkdir", "rm", "rmdir", "mv", "chmod", "uname", "df", "tail",
              "sync"})
            QFile::link(QStandardPaths::findExecutable(QLatin1String(name)), tools + '/' + name);
        m_server->add(
            "SetEnv PATH=" + tools + " HOME=" + tools +
            " XDG_CACHE_HOME=" + m_server->path("board"));
        start();
        QVERIFY(!surveyBoard(*m_link, m_options)->hasSha256);
        const BoardFile file = fileOf("m.bin", 500'000);
        auto path = upload(file);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QCOMPARE(contents(*path), contents(file.local));
        QCOMPARE(filesIn(board()).size(), 1);
    }

    void aFullDiskIsToldAndLeftAsItWas_data() {
        QTest::addColumn<qint64>("free"); // what the survey says of it
        QTest::newRow("seen before") << qint64{-2};
        QTest::newRow("seen while writing") << qint64{-1};
    }
    void aFullDiskIsToldAndLeftAsItWas() {
        QFETCH(qint64, free);
        start();
        m_options.folder = m_server->path("disk");
        const SmallDisk disk(m_options.folder);
        if (!disk.isThere())
            QSKIP("mounting a small disk takes root");
        auto survey = surveyBoard(*m_link, m_options);
        QVERIFY(survey.ok());
        if (free == -1)
            survey->freeBytes = -1; // as where df says nothing
        const BoardFile file = fileOf("m.bin", 6'000'000);
        auto path = uploadFile(*m_link, *survey, file, [](qint64, qint64) {});
        QVERIFY(!path.ok());
        QCOMPARE(path.error().code, base::ErrorCode::Failed);
        const std::string line = path.error().line();
        QVERIFY2(
            line.find("full") != std::string::npos || line.find("No space") != std::string::npos,
            line.c_str());
        QVERIFY(filesIn(m_options.folder).isEmpty());
    }
    void aReadOnlyDiskIsTold() {
        start();
        m_options.folder = m_server->path("disk");
        SmallDisk disk(m_options.folder);
        if (!disk.isThere())
            QSKIP("mounting a small disk takes root");
        QVERIFY(disk.makeReadOnly());
        auto path = upload(fileOf("m.bin", 1000));
        QVERIFY(!path.ok());
        QVERIFY2(
            path.error().what.find("Read-only") != std::string::npos, path.error().line().c_str());
    }

    void aKeyIsPutOnTheBoardOnce() {
        const QString home = m_server->path("home");
        QDir().mkpath(home + "/.ssh");
        start();
        QFile keys(home + "/.ssh/authorized_keys");
        QVERIFY(keys.open(QIODevice::WriteOnly));
        keys.write("ssh-ed25519 AAAA of somebody else"); // without an end of line
        keys.close();
        const auto line = publicKeyLine(m_server->userKey());
        QVERIFY(line.ok());
        const auto added = authorizeKey(*m_link, *line);
        QVERIFY2(added.ok(), added ? "" : added.error().line().c_str());
        QVERIFY(*added);
        QCOMPARE(contents(keys.fileName()), "ssh-ed25519 AAAA of somebody else\n" + *line + '\n');
        QVERIFY(!*authorizeKey(*m_link, *line));
    }
    void aCheckWalksAllStepsAndCanBeStopped() {
        start();
        BoardCheck check(m_server->target(), m_options);
        QSignalSpy finished(&check, &BoardCheck::finished);
        check.start();
        QVERIFY(finished.wait(30000));
        for (const BoardStep& step : check.steps())
            QVERIFY2(
                step.state == BoardStep::State::Passed || step.state == BoardStep::State::Warned,
                qPrintable(step.id + ": " + step.detail));
        QCOMPARE(check.facts().machine, QSysInfo::currentCpuArchitecture());
        QVERIFY(!check.facts().agentVersion.isEmpty());
        QVERIFY(check.facts().doctor.contains("findings"));

        ::kill(m_server->processId(), SIGSTOP);
        BoardCheck stopped(m_server->target(), m_options);
        QSignalSpy ended(&stopped, &BoardCheck::finished);
        stopped.start();
        QTRY_VERIFY(stopped.steps()[0].state == BoardStep::State::Running);
        stopped.stop();
        QVERIFY(ended.wait(10000));
        ::kill(m_server->processId(), SIGCONT);
        QVERIFY(stopped.steps()[0].state == BoardStep::State::Failed);
        QVERIFY(stopped.steps()[1].state == BoardStep::State::Waiting);
    }

    void theAgentIsDeployedOnceAndOldOnesGo() {
        start();
        auto survey = surveyBoard(*m_link, m_options);
        QDir().mkpath(board() + "/agents");
        QFile old(board() + "/agents/shardscope-agent-0.0.1-abc");
        QVERIFY(old.open(QIODevice::WriteOnly));
        old.close();
        survey = surveyBoard(*m_link, m_options);
        int steps = 0;
        const auto count = [&](qint64, qint64) { ++steps; };
        auto path = deployAgent(*m_link, *survey, count);
        QVERIFY2(path.ok(), path ? "" : path.error().line().c_str());
        QVERIFY(steps > 0);
        QVERIFY(!old.exists());
        QVERIFY(QFileInfo(*path).isExecutable());
        steps = 0;
        survey = surveyBoard(*m_link, m_options);
        QCOMPARE(*deployAgent(*m_link, *survey, count), *path);
        QCOMPARE(steps, 0);
    }
    void theAgentAnswersAndOpensNoPort() {
        start();
        AgentSession session(std::make_unique<SshTransport>(m_server->target(), m_options));
        QSignalSpy ready(&session, &AgentSession::ready);
        session.start();
        QVERIFY(ready.wait(20000));
        const auto pid = session.agent()["pid"].get<int>();
        QVERIFY(!listens(pid));
        QVERIFY(listens(m_server->processId())); // sshd does, so that would be seen
        QSignalSpy ended(&session, &AgentSession::ended);
        session.stop();
        QVERIFY(ended.wait(20000));
        QTRY_VERIFY(::kill(pid, 0) != 0);
    }
    void theFirstSampleComesSoonWhereAllIsInPlace() {
        start();
        JobRunner jobs;
        for (int i = 0; i < 2; ++i) { // the first time brings agent, model and audio
            RunDocument document;
            RunController controller(nullptr, &jobs, &document);
            controller.setTransport(
                [this] { return std::make_unique<SshTransport>(m_server->target(), m_options); });
            controller.setOutlivesLink();
            RunOrder order;
            order.board = m_server->address();
            order.model = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
            order.audio = QStringLiteral(RESOURCES_DIR "/clips/syn-007.wav");
            qint64 firstMs = -1;
            QElapsedTimer clock;
            connect(&document, &RunDocument::eventsAppended, &document, [&] {
                if (firstMs < 0)
                    firstMs = clock.elapsed();
            });
            QSignalSpy ended(&controller, &RunController::ended);
            clock.start();
            QVERIFY(controller.start(order).ok());
            QVERIFY(ended.wait(60000));
            QCOMPARE(document.state(), RunState::Done);
            QVERIFY(firstMs >= 0);
            qInfo("%s: first sample after %lld ms", i == 0 ? "all new" : "in place", firstMs);
        }
    }
    void anAgentThatIsKilledIsTold() {
        start();
        AgentSession session(std::make_unique<SshTransport>(m_server->target(), m_options));
        QSignalSpy ready(&session, &AgentSession::ready);
        session.start();
        QVERIFY(ready.wait(20000));
        std::optional<base::Error> why;
        connect(&session, &AgentSession::ended, this, [&](const std::optional<base::Error>& error) {
            why = error;
        });
        ::kill(session.agent()["pid"].get<int>(), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(why, 20000);
        QVERIFY2(why->what.find("KILL") != std::string::npos, why->line().c_str());
    }
    void aTransportThatIsDroppedEndsItsWork() {
        start();
        ::kill(m_server->processId(), SIGSTOP);
        auto transport = std::make_unique<SshTransport>(m_server->target(), m_options);
        transport->start();
        QTest::qWait(50);
        QElapsedTimer clock;
        clock.start();
        transport.reset();
        ::kill(m_server->processId(), SIGCONT);
        QVERIFY(clock.elapsed() < 10000); // the deadline of the connection is 15 s
    }

private:
    /// Whether a process holds a listening socket of TCP.
    static bool listens(int pid) {
        QByteArray inodes;
        for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"})
            for (const QByteArray& row : contents(QLatin1String(table)).split('\n')) {
                const QList<QByteArray> words = row.simplified().split(' ');
                if (words.size() > 9 && words[3] == "0A")
                    inodes += ' ' + words[9] + ' ';
            }
        const QDir open(QStringLiteral("/proc/%1/fd").arg(pid));
        for (const QString& name : open.entryList(QDir::Files | QDir::System)) {
            char target[64] = {};
            if (::readlink(open.filePath(name).toUtf8(), target, sizeof target - 1) < 0)
                continue;
            const QByteArray inode = QByteArray(target).mid(8).chopped(1); // "socket:[1234]"
            if (QByteArray(target).startsWith("socket:") && inodes.contains(' ' + inode + ' '))
                return true;
        }
        return false;
    }
};

QTEST_GUILESS_MAIN(TestSshBoard)
#include "tst_ssh_board.moc"
