// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/boards_ssh.h"

#include <QEventLoop>
#include <QFileInfo>

#include "app/cli/interrupt.h"
#include "app/cli/run_headless.h"
#include "app/cli/ssh_flags.h"
#include "app/cli/terminal.h"
#include "app/remote/agent_session.h"
#include "app/remote/board_source.h"
#include "app/remote/ssh/board_check.h"
#include "app/remote/ssh/ssh_transport.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using Json = nlohmann::ordered_json;
using State = BoardStep::State;

namespace {

constexpr std::chrono::minutes kMeasuring{5};
constexpr std::chrono::minutes kExamining{1};

const char* wordOf(State state) {
    switch (state) {
    case State::Waiting:
        return "skipped";
    case State::Running:
        return "running";
    case State::Passed:
        return "ok";
    case State::Warned:
        return "warning";
    case State::Failed:
        break;
    }
    return "FAILED";
}

Json toJson(const BoardStep& step) {
    return {
        {"step", step.id.toStdString()},
        {"state", wordOf(step.state)},
        {"detail", step.detail.toStdString()},
        {"mend", step.mend.toStdString()}};
}

void printStep(const BoardStep& step) {
    print(base::formatted(
        "%-8s %-12s %s\n", wordOf(step.state), qUtf8Printable(step.title),
        qUtf8Printable(step.detail)));
    if (!step.mend.isEmpty())
        print(base::formatted("%22smend: %s\n", "", qUtf8Printable(step.mend)));
}

/// Walks up to the board, a line a step; what failed, and what was found out.
std::optional<Error>
walk(const ReachedBoard& board, bool json, BoardFacts& facts, bool authorize = false) {
    BoardCheck check(board.target, board.options);
    if (authorize)
        check.authorizeIdentity();
    askOnTerminal(check.questions());
    QEventLoop loop;
    std::optional<Error> broken;
    QObject::connect(&check, &BoardCheck::stepChanged, &loop, [&](int i) {
        const BoardStep& step = check.steps()[i];
        clearPhase();
        if (step.state == State::Running)
            showPhase(step.title + QStringLiteral(" ..."));
        else if (!json)
            printStep(step);
    });
    QObject::connect(&check, &BoardCheck::finished, &loop, [&](const std::optional<Error>& error) {
        broken = error;
        loop.quit();
    });
    Interrupt interrupt;
    QObject::connect(&interrupt, &Interrupt::asked, &check, &BoardCheck::stop);
    check.start();
    loop.exec();
    clearPhase();
    facts = check.facts();
    if (json) {
        Json steps = Json::array();
        for (const BoardStep& step : check.steps())
            steps.push_back(toJson(step));
        printJson(
            {{"board", board.record.name.toStdString()},
             {"address", facts.address.toStdString()},
             {"ready", !broken},
             {"machine", facts.machine.toStdString()},
             {"agent", facts.agentVersion.toStdString()},
             {"free_bytes", facts.freeBytes},
             {"steps", std::move(steps)}});
    }
    return broken;
}

/// What was seen goes into the record; a failure keeps what was known before.
void note(RemoteBoard& record, const BoardFacts& facts, const std::optional<Error>& broken) {
    record.state = broken ? QString::fromStdString(broken->line()) : QStringLiteral("ready");
    if (!facts.machine.isEmpty())
        record.machine = facts.machine;
    if (!facts.agentVersion.isEmpty())
        record.agent = facts.agentVersion;
    if (facts.doctor.is_object())
        record.doctor = QString::fromStdString(facts.doctor.dump());
    if (!broken)
        record.lastSeen = QDateTime::currentDateTime();
}

/// One request to the agent of a board, with files brought to it; its answer.
Result<Json>
ask(const ReachedBoard& board, const std::string& request,
    const std::function<Json(const SshTransport&)>& parameters, std::chrono::milliseconds patience,
    const QStringList& files = {}) {
    auto transport = std::make_unique<SshTransport>(board.target, board.options);
    const SshTransport& there = *transport;
    askOnTerminal(transport->questions());
    transport->bring(files);
    AgentSession session(std::move(transport));
    QEventLoop loop;
    Result<Json> answer = Error{ErrorCode::Failed, "stopped", board.record.name.toStdString(), ""};
    QObject::connect(&session, &AgentSession::phaseChanged, &loop, &showPhase);
    QObject::connect(&session, &AgentSession::ready, &loop, [&] {
        showPhase(QStringLiteral("waiting for the board"));
        session.request(request, parameters(there), patience, [&](const Result<Json>& reply) {
            answer = reply;
            session.stop();
        });
    });
    QObject::connect(&session, &AgentSession::ended, &loop, [&](const std::optional<Error>& why) {
        if (why && !answer)
            answer = *why;
        loop.quit();
    });
    Interrupt interrupt;
    QObject::connect(&interrupt, &Interrupt::asked, &session, &AgentSession::stop);
    session.start();
    loop.exec();
    clearPhase();
    return answer;
}

std::string textAt(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void printFindings(const Json& report) {
    const auto findings = report.find("findings");
    if (findings == report.end() || !findings->is_array())
        return;
    for (const char* severity : {"problem", "warning", "note", "good"})
        for (const Json& finding : *findings) {
            if (textAt(finding, "severity") != severity)
                continue;
            print(base::formatted(
                "%-8s %-16s %s\n", severity, textAt(finding, "check").c_str(),
                textAt(finding, "what").c_str()));
            if (const std::string mend = textAt(finding, "mend"); !mend.empty())
                print(base::formatted("%25s mend: %s\n", "", mend.c_str()));
        }
}

} // namespace

Result<ReachedBoard> reachBoard(const QString& name, RunStore& store, const base::Args& args) {
    auto known = store.remoteBoard(name);
    if (!known)
        return known.error();
    ReachedBoard board;
    if (*known) {
        board.record = **known;
        board.isAdded = true;
    } else if (isSshTarget(name)) {
        board.record.name = board.record.address = name;
    } else {
        return Error{
            ErrorCode::Usage, "there is no such board", name.toStdString(),
            "give user@host[:port], or add it: shardscope boards add NAME user@host"};
    }
    auto target = parseSshTarget(board.record.address);
    if (!target)
        return target.error();
    board.target = *target;
    board.options = sshOptionsFrom(args);
    if (board.options.identity.isEmpty())
        board.options.identity = board.record.identity;
    if (board.options.folder.isEmpty())
        board.options.folder = board.record.folder;
    return board;
}

int addBoard(const QString& name, const QString& address, RunStore& store, const base::Args& args) {
    if (isSshTarget(name) || name == kLocalBoard || presetBoardNames().contains(name))
        return fail(
            {ErrorCode::Usage, "a board cannot be called that", name.toStdString(),
             "give it a short name of its own"});
    auto target = parseSshTarget(address);
    if (!target)
        return fail(target.error());
    ReachedBoard board;
    board.target = *target;
    board.options = sshOptionsFrom(args);
    board.record.name = name;
    board.record.address = target->text();
    board.record.identity = board.options.identity;
    board.record.folder = board.options.folder;
    BoardFacts facts;
    const bool authorize = args.has("--authorize");
    if (authorize && board.options.identity.isEmpty())
        return fail(
            {ErrorCode::Usage, "which key is to be put on the board?", "--authorize",
             "name it with --identity KEYFILE"});
    const auto broken = walk(board, args.has("--json"), facts, authorize);
    if (broken)
        return fail(*broken);
    note(board.record, facts, broken);
    const base::Status status = store.saveRemoteBoard(board.record);
    return status ? 0 : fail(status.error());
}

int testBoard(const QString& name, RunStore& store, const base::Args& args) {
    auto board = reachBoard(name, store, args);
    if (!board)
        return fail(board.error());
    BoardFacts facts;
    const auto broken = walk(*board, args.has("--json"), facts);
    note(board->record, facts, broken);
    if (board->isAdded)
        if (const base::Status status = store.saveRemoteBoard(board->record); !status)
            return fail(status.error());
    return broken ? fail(*broken) : 0;
}

int probeBoard(const QString& name, RunStore& store, const base::Args& args) {
    auto board = reachBoard(name, store, args);
    if (!board)
        return fail(board.error());
    auto answer = ask(
        *board, "probe",
        [](const SshTransport& there) {
            return Json{{"folder", there.folder().toStdString()}};
        },
        kMeasuring);
    if (!answer)
        return fail(answer.error());
    auto profile = plan::profileFromJson(*answer);
    if (!profile)
        return fail(profile.error());
    profile->name = board->record.name.toStdString();
    if (const base::Status status = store.saveBoard(*profile); !status)
        return fail(status.error());
    printJson(plan::toJson(*profile));
    return 0;
}

int examineBoard(const QString& name, RunStore& store, const base::Args& args) {
    auto board = reachBoard(name, store, args);
    if (!board)
        return fail(board.error());
    QStringList files;
    if (const auto model = args.value("--model"))
        files.append(QFileInfo(QString::fromStdString(*model)).absoluteFilePath());
    auto answer = ask(
        *board, "doctor",
        [&](const SshTransport& there) {
            Json parameters{{"folder", there.folder().toStdString()}};
            if (!files.isEmpty())
                parameters["model"] = there.pathThere(files.first()).toStdString();
            return parameters;
        },
        kExamining, files);
    if (!answer)
        return fail(answer.error());
    if (board->isAdded) {
        board->record.doctor = QString::fromStdString(answer->dump());
        if (const base::Status status = store.saveRemoteBoard(board->record); !status)
            return fail(status.error());
    }
    if (args.has("--json"))
        printJson(*answer);
    else
        printFindings(*answer);
    return 0;
}

int fetchRuns(const QString& name, RunStore& store, const base::Args& args) {
    auto board = reachBoard(name, store, args);
    if (!board)
        return fail(board.error());
    auto way = wayTo(name, store, args);
    if (!way)
        return fail(way.error());
    auto answer = ask(
        *board, "runs", [](const SshTransport&) { return Json::object(); }, kExamining);
    if (!answer)
        return fail(answer.error());
    std::size_t fetched = 0, alive = 0;
    if (const auto runs = answer->find("runs"); runs != answer->end() && runs->is_array())
        for (const Json& run : *runs) {
            if (run.is_object() && run.value("alive", Json()) == true) {
                ++alive;
                continue;
            }
            RunOrder order;
            order.board = name;
            order.spooled = textAt(run, "run_id");
            RunDocument document;
            const auto broken = runToEnd(&store, order, document, *way);
            clearPhase();
            if (broken && (document.uuid().isEmpty() || broken->code == ErrorCode::Connection))
                return fail(*broken);
            if (document.uuid().isEmpty())
                return fail(
                    {ErrorCode::Failed, "the run is not kept, and stays on the board",
                     order.spooled, "see to the space for runs, then fetch again"});
            ++fetched;
            print(base::formatted(
                "%s  %s\n", qUtf8Printable(document.uuid().left(8)),
                qUtf8Printable(document.transcript().simplified().left(60))));
        }
    if (fetched == 0)
        print("No run waits there.\n");
    if (alive > 0)
        print(base::formatted("%zu of them still go on.\n", alive));
    return 0;
}

int removeBoard(const QString& name, RunStore& store) {
    const base::Status status = store.removeRemoteBoard(name);
    return status ? 0 : fail(status.error());
}

} // namespace shardscope::app
