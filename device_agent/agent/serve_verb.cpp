// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's side of the protocol, on standard input and output; no port is ever opened.
// Requests are control frames {"id", "request": NAME, ..}. Each is answered by {"id", "reply"} or
// {"id", "error"}:
//   hello
//     {"version", "protocol", "pid", "monotonic_ns", "wall_ms"}
//   inspect {"model"}, probe {"folder"}, doctor {"folder", "model", "config"}
//   run {"model", "audio", "config", ..}
//     {"id", "result"} when the run is over. Its {"run"}, {"note"}, {"text"} and event frames come
//     before. It ends with the link.
//   run {.., "spool": true, "limit_s"}
//     {"run_id"} at once. The run is a process of its own, which goes on when the link drops, and
//     stops after limit_s seconds. Its stream, which ends with a {"result"} or {"error"} without
//     id, is handed over.
//   attach {"run_id", "from"}
//     hands it over from a byte on: the sum of the sizes of the run's frames received so far.
//   runs
//     {"runs": [{"run_id", "bytes", "alive", "changed_at"}]}
//   forget {"run_id"}
//     what was fetched whole is removed.
//   stop
//     ends the run of this link.
// Runs that nobody fetches are removed after a week.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/doctor_report.h"
#include "device_agent/agent/run_order.h"
#include "device_agent/agent/spool_relay.h"
#include "device_agent/agent/start_spooled.h"
#include "device_agent/agent/verbs.h"
#include "device_agent/probes/probe.h"
#include "sim_engine/base/args.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/trace/frame.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ErrorCode;
using base::Result;

Error usage(std::string what, std::string where) {
    return {ErrorCode::Usage, std::move(what), std::move(where), "see the protocol beside serve"};
}

std::int64_t nanoseconds(clockid_t clock) {
    timespec t{};
    ::clock_gettime(clock, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

class Server {
public:
    explicit Server(std::string spoolFolder) : m_spoolFolder(std::move(spoolFolder)) {}
    ~Server() {
        m_stop.store(true);
        joinRun();
    }

    /// Until the end of standard input.
    void serve() {
        std::array<char, 1 << 16> piece;
        for (;;) {
            const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return;
            m_reader.push({piece.data(), static_cast<std::size_t>(n)});
            while (const auto frame = m_reader.next())
                if (frame->kind == trace::FrameKind::Control)
                    handle(frame->payload);
        }
    }

private:
    void handle(std::string_view text) {
        const Json request = trace::parseControl(text);
        if (!request.is_object())
            return fail(nullptr, usage("a request that is no JSON object", "serve"));
        const Json id = request.value("id", Json());
        const std::string name = textAt(request, "request");
        if (name == "hello")
            return reply(
                id, {{"version", SHARDSCOPE_VERSION},
                     {"protocol", trace::kFrameVersion},
                     {"pid", ::getpid()},
                     {"monotonic_ns", nanoseconds(CLOCK_MONOTONIC)},
                     {"wall_ms", nanoseconds(CLOCK_REALTIME) / 1'000'000}});
        if (name == "stop") {
            m_stop.store(true);
            if (m_relay)
                m_relay->stopRun();
            return reply(id, Json::object());
        }
        if (name == "run")
            return request.value("spool", Json()) == true ? startSpooledRun(id, request)
                                                          : startRun(id, request);
        if (name == "attach")
            return attach(id, textAt(request, "run_id"), numberAt(request, "from").value_or(0));
        if (name == "runs")
            return answer(id, runs());
        if (name == "forget")
            return answer(id, forget(textAt(request, "run_id")));
        if (name == "probe")
            return answer(id, probe(request));
        if (name == "doctor")
            return answer(id, doctor(request));
        if (name == "inspect")
            return answer(id, inspect(textAt(request, "model")));
        fail(id, usage("there is no such request", name));
    }

    /// {"folder", "quick"}, which may be missing: quick unless it is false.
    static Result<Json> probe(const Json& request) {
        const auto quick = request.find("quick");
        const bool isQuick = quick == request.end() || !quick->is_boolean() || quick->get<bool>();
        auto profile = probes::probe({textAt(request, "folder"), isQuick, {}});
        if (!profile)
            return profile.error();
        return plan::toJson(*profile);
    }
    /// {"folder", "model", "config"}, all of which may be missing.
    static Result<Json> doctor(const Json& request) {
        plan::RunConfig knobs;
        if (const auto config = request.find("config"); config != request.end()) {
            auto parsed = plan::configFromJson(*config);
            if (!parsed)
                return parsed.error();
            knobs = std::move(*parsed);
        }
        const std::string folder = textAt(request, "folder");
        auto findings =
            doctorFindings(folder.empty() ? "." : folder, textAt(request, "model"), knobs);
        if (!findings)
            return findings.error();
        return toJson(*findings);
    }
    static Result<Json> inspect(const std::string& model) {
        auto card = model::loadCard(model);
        if (!card)
            return card.error();
        return model::toJson(*card);
    }

    /// The folder is made when it is first needed, and old runs are swept then.
    Result<Spool> spool() const {
        constexpr std::chrono::hours kKept{7 * 24};
        auto spool = Spool::open(m_spoolFolder.empty() ? Spool::standardFolder() : m_spoolFolder);
        if (spool)
            spool->sweep(kKept);
        return spool;
    }
    void startSpooledRun(const Json& id, const Json& request) {
        if (isBusy())
            return fail(id, usage("a run is under way", "run"));
        auto folder = spool();
        if (!folder)
            return fail(id, folder.error());
        auto run = startSpooled(*folder, request);
        if (!run)
            return fail(id, run.error());
        attach(id, *run, 0);
    }
    void attach(const Json& id, const std::string& run, std::int64_t from) {
        if (isBusy())
            return fail(id, usage("a run is under way", "attach"));
        auto folder = spool();
        auto path = folder ? folder->pathOf(run) : Result<std::string>(folder.error());
        if (!path)
            return fail(id, path.error());
        auto relay = SpoolRelay::open(*path, base::Bytes(from), m_out);
        if (!relay)
            return fail(id, relay.error());
        m_relay = std::move(*relay);
        reply(id, {{"run_id", run}});
        m_relay->start();
    }
    Result<Json> runs() const {
        auto folder = spool();
        if (!folder)
            return folder.error();
        Json list = Json::array();
        for (const SpooledRun& run : folder->runs())
            list.push_back(
                {{"run_id", run.id},
                 {"bytes", run.bytes.value},
                 {"alive", run.isAlive},
                 {"changed_at", run.changedAt}});
        return Json{{"runs", std::move(list)}};
    }
    Result<Json> forget(const std::string& run) const {
        auto folder = spool();
        if (!folder)
            return folder.error();
        if (const auto status = folder->forget(run); !status)
            return status.error();
        return Json::object();
    }
    bool isBusy() const { return m_running.load() || (m_relay && !m_relay->isOver()); }

    void startRun(const Json& id, const Json& request) {
        if (isBusy())
            return fail(id, usage("a run is under way", "run"));
        joinRun();
        auto job = jobFromJson(request);
        if (!job)
            return fail(id, job.error());
        m_stop.store(false);
        m_running.store(true);
        m_run = std::thread([this, id, job = std::move(*job)]() mutable {
            job.stream = &m_out;
            job.request.stop = &m_stop;
            job.appendText = [this](const std::string& text) {
                m_out.control({{"text", {{"append", text}}}});
            };
            auto result = job.perform();
            m_running.store(false);
            if (result)
                m_out.control({{"id", id}, {"result", std::move(*result)}});
            else
                fail(id, result.error());
        });
    }
    void joinRun() {
        if (m_run.joinable())
            m_run.join();
    }

    void answer(const Json& id, const Result<Json>& result) {
        if (result)
            reply(id, *result);
        else
            fail(id, result.error());
    }
    void reply(const Json& id, const Json& document) {
        m_out.control({{"id", id}, {"reply", document}});
    }
    void fail(const Json& id, const Error& error) {
        m_out.control({{"id", id}, {"error", toJson(error)}});
    }

    std::string m_spoolFolder; ///< empty: the standard one
    DescriptorSink m_wire{STDOUT_FILENO};
    FrameOut m_out{m_wire};
    trace::FrameReader m_reader;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_running{false};
    std::thread m_run;
    std::unique_ptr<SpoolRelay> m_relay;
};

} // namespace

Result<int> serveVerb(Words words) {
    const std::vector<base::Flag> flags{
        {"--spool", "DIR", "where runs that outlive their link are kept"},
        {"--help", "", "this text"}};
    auto args = base::Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent serve [--spool DIR]\n\nSpeaks with the desktop on standard input and "
            "output; opens no port. Runs that are\nto outlive their link are kept in DIR "
            "(default: %s).\n",
            Spool::standardFolder().c_str());
        return 0;
    }
    if (base::Status status = args->noRest(); !status)
        return status.error();
    Server(args->valueOr("--spool", "")).serve();
    return 0;
}

} // namespace shardscope::agent
