// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/board_check.h"

#include <cmath>
#include <map>

#include <QDateTime>
#include <QElapsedTimer>

#include "app/remote/ssh/agent_call.h"
#include "app/remote/ssh/authorize_key.h"
#include "app/remote/ssh/board_upload.h"
#include "app/remote/ssh/ssh_connect.h"
#include "app/remote/ssh/ssh_login.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;
using State = BoardStep::State;

namespace {

constexpr qint64 kLittleSpace = 256 << 20; ///< not much for a model
constexpr double kClockApartMs = 5000;
constexpr std::chrono::seconds kHandshake{15};
constexpr std::chrono::seconds kExamination{30};

QList<BoardStep> allSteps() {
    QList<BoardStep> steps;
    const auto add = [&](const char* id, const QString& title) {
        steps.append({QString::fromLatin1(id), title, State::Waiting, {}, {}});
    };
    add("connect", BoardCheck::tr("Connect"));
    add("trust", BoardCheck::tr("Host key"));
    add("login", BoardCheck::tr("Log in"));
    add("system", BoardCheck::tr("System"));
    add("folder", BoardCheck::tr("Folder"));
    add("space", BoardCheck::tr("Free space"));
    add("agent", BoardCheck::tr("Agent"));
    add("handshake", BoardCheck::tr("Handshake"));
    add("doctor", BoardCheck::tr("Doctor"));
    return steps;
}

QString textAt(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string()
               ? QString::fromStdString(found->get<std::string>())
               : QString();
}

/// The worst of what the doctor found, in one line.
void judge(const Json& report, BoardStep& step) {
    int problems = 0, warnings = 0;
    const Json* worst = nullptr;
    if (const auto findings = report.find("findings"); findings != report.end())
        for (const Json& finding : *findings) {
            const QString severity = textAt(finding, "severity");
            const bool isProblem = severity == QLatin1String("problem");
            if (!isProblem && severity != QLatin1String("warning"))
                continue;
            if (!worst || (isProblem && problems == 0))
                worst = &finding;
            ++(isProblem ? problems : warnings);
        }
    step.state = worst ? State::Warned : State::Passed;
    if (!worst) {
        step.detail = BoardCheck::tr("nothing would hurt a run");
        return;
    }
    step.detail = BoardCheck::tr("%1 problems, %2 warnings; %3: %4")
                      .arg(problems)
                      .arg(warnings)
                      .arg(textAt(*worst, "check"), textAt(*worst, "what"));
    step.mend = textAt(*worst, "mend");
}

} // namespace

/// The worker's side: one function a step.
class BoardCheck::Walk {
public:
    using Step = Status (Walk::*)(BoardStep&);

    Walk(
        const SshTarget& target, const SshOptions& options, QuestionBox& questions,
        std::shared_ptr<Wake> wake)
        : m_target(target), m_options(options), m_questions(questions), m_wake(std::move(wake)) {}

    BoardFacts facts;

private:
    Status connectTo(BoardStep& step) {
        auto route = resolveRoute(m_target, m_options);
        if (!route)
            return route.error();
        m_route = *route;
        facts.address = m_route.name();
        QElapsedTimer clock;
        clock.start();
        auto link = openLink(m_route, m_options, m_wake);
        if (!link)
            return link.error();
        m_link = std::move(*link);
        const char* banner = libssh2_session_banner_get(m_link->session());
        step.detail = tr("%1, %2 in %3 ms")
                          .arg(m_route.name(), QString::fromUtf8(banner ? banner : ""))
                          .arg(clock.elapsed());
        return {};
    }
    Status trust(BoardStep& step) {
        return said(trustHost(*m_link, m_route, m_options, m_questions), step);
    }
    Status login(BoardStep& step) {
        return said(logIn(*m_link, m_route, m_options, m_questions), step);
    }
    Status authorize(BoardStep& step) {
        auto line = publicKeyLine(m_options.identity);
        if (!line)
            return line.error();
        auto added = authorizeKey(*m_link, *line);
        if (!added)
            return added.error();
        step.detail = *added ? tr("put on the board: %1").arg(m_options.identity)
                             : tr("is on the board: %1").arg(m_options.identity);
        return {};
    }
    static Status said(const Result<QString>& line, BoardStep& step) {
        if (!line)
            return line.error();
        step.detail = *line;
        return {};
    }
    Status system(BoardStep& step) {
        auto survey = surveyBoard(*m_link, m_options);
        if (!survey)
            return survey.error();
        m_survey = std::move(*survey);
        facts.machine = m_survey.machine;
        facts.system = m_survey.system + QLatin1Char(' ') + m_survey.release;
        facts.folder = m_survey.folder;
        facts.freeBytes = m_survey.freeBytes;
        step.detail = facts.system + QStringLiteral(", ") + m_survey.machine;
        return {};
    }
    Status folder(BoardStep& step) {
        step.detail = m_survey.folder;
        return checkWritable(*m_link, m_survey);
    }
    Status space(BoardStep& step) {
        if (m_survey.freeBytes < 0) {
            step.state = State::Warned;
            step.detail = tr("the board does not tell how much is free");
            return {};
        }
        step.detail = tr("%1 free").arg(
            QString::fromStdString(base::bytesText(base::Bytes(m_survey.freeBytes))));
        if (m_survey.freeBytes < kLittleSpace) {
            step.state = State::Warned;
            step.mend = tr("free space, or name another folder");
        }
        return {};
    }
    Status agent(BoardStep& step) {
        bool sent = false;
        auto path = deployAgent(*m_link, m_survey, [&](qint64, qint64) { sent = true; });
        if (!path)
            return path.error();
        m_agent = *path;
        step.detail = (sent ? tr("uploaded: ") : tr("is there: ")) + m_agent;
        return {};
    }
    Status greet(BoardStep& step) {
        const qint64 before = QDateTime::currentMSecsSinceEpoch();
        auto reply = ask({"hello", {}}, kHandshake);
        const qint64 after = QDateTime::currentMSecsSinceEpoch();
        if (!reply)
            return reply.error();
        facts.agentVersion = textAt(*reply, "version");
        step.detail = tr("version %1").arg(facts.agentVersion);
        if (const auto wall = reply->find("wall_ms"); wall != reply->end() && wall->is_number())
            compareClocks(wall->get<double>(), before, after, step);
        return {};
    }
    /// It answered at some moment between the two of ours.
    void compareClocks(double there, qint64 before, qint64 after, BoardStep& step) {
        const double within = static_cast<double>(after - before) / 2;
        const double ahead = there - static_cast<double>(before) - within;
        facts.clockAheadMs = ahead;
        step.detail += tr("; its clock is %1 ms %2, within %3 ms")
                           .arg(std::fabs(ahead), 0, 'f', 0)
                           .arg(ahead < 0 ? tr("behind") : tr("ahead"))
                           .arg(within, 0, 'f', 0);
        if (std::fabs(ahead) > kClockApartMs + within) {
            step.state = State::Warned;
            step.mend = tr("set the board's clock: start an NTP client there");
        }
    }
    Status examine(BoardStep& step) {
        auto reply = ask({"doctor", {{"folder", m_survey.folder.toStdString()}}}, kExamination);
        if (!reply)
            return reply.error();
        facts.doctor = std::move(*reply);
        judge(facts.doctor, step);
        return {};
    }
    Result<Json> ask(const AgentCall& call, std::chrono::seconds patience) {
        auto answers = askAgent(
            *m_link, serveCommand(m_options, m_survey.folder, m_agent), {call}, Deadline(patience));
        if (!answers)
            return answers.error();
        return answers->front();
    }

    const SshTarget& m_target;
    const SshOptions& m_options;
    QuestionBox& m_questions;
    std::shared_ptr<Wake> m_wake;
    SshRoute m_route;
    std::unique_ptr<SshLink> m_link;
    BoardSurvey m_survey;
    QString m_agent;

public:
    /// What a step of this name does.
    static Step stepOf(const QString& id) {
        static const std::map<QString, Step> all{{QStringLiteral("connect"), &Walk::connectTo},
                                                 {QStringLiteral("trust"), &Walk::trust},
                                                 {QStringLiteral("login"), &Walk::login},
                                                 {QStringLiteral("key"), &Walk::authorize},
                                                 {QStringLiteral("system"), &Walk::system},
                                                 {QStringLiteral("folder"), &Walk::folder},
                                                 {QStringLiteral("space"), &Walk::space},
                                                 {QStringLiteral("agent"), &Walk::agent},
                                                 {QStringLiteral("handshake"), &Walk::greet},
                                                 {QStringLiteral("doctor"), &Walk::examine}};
        return all.at(id);
    }
};

BoardCheck::BoardCheck(SshTarget target, SshOptions options, QObject* parent)
    : QObject(parent), m_target(std::move(target)), m_options(std::move(options)),
      m_wake(std::make_shared<Wake>()), m_steps(allSteps()) {}

BoardCheck::~BoardCheck() {
    m_wake->cancel();
    if (m_worker.joinable())
        m_worker.join();
}

void BoardCheck::authorizeIdentity() {
    m_steps.insert(3, {QStringLiteral("key"), tr("Public key"), State::Waiting, {}, {}});
}

void BoardCheck::start() {
    if (m_worker.joinable())
        return;
    m_running = true;
    m_worker = std::thread([this, steps = m_steps] {
        Walk walk(m_target, m_options, m_questions, m_wake);
        std::optional<Error> broken;
        const auto tell = [this](int index, const BoardStep& step) {
            QMetaObject::invokeMethod(
                this, [this, index, step] { show(index, step); }, Qt::QueuedConnection);
        };
        for (int i = 0; i < steps.size() && !broken; ++i) {
            BoardStep step = steps[i];
            step.state = State::Running;
            tell(i, step);
            if (const Status status = (walk.*Walk::stepOf(step.id))(step); !status) {
                step.state = State::Failed;
                step.detail = QString::fromStdString(status.error().what);
                step.mend = QString::fromStdString(status.error().mend);
                broken = status.error();
            } else if (step.state == State::Running) {
                step.state = State::Passed;
            }
            tell(i, step);
        }
        QMetaObject::invokeMethod(
            this,
            [this, broken, facts = walk.facts] {
                m_facts = facts;
                m_running = false;
                emit finished(broken);
            },
            Qt::QueuedConnection);
    });
}

void BoardCheck::stop() {
    m_wake->cancel();
}

void BoardCheck::show(int index, const BoardStep& step) {
    m_steps[index] = step;
    emit stepChanged(index);
}

} // namespace shardscope::app
