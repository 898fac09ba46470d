// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's side of the protocol, on standard input and output; no port is ever opened.
// Requests are control frames: {"id", "request": "hello" | "run" | "stop" | "probe" | "inspect" |
// "doctor", ..}. Each is answered by {"id", "reply"}, {"id", "result"} or {"id", "error"}. While a
// run goes on its
// {"run"}, {"note"} and {"text"} frames and its events come between. The end of standard input ends
// the run and the agent: nothing is left behind when the desktop goes.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/doctor_report.h"
#include "device_agent/agent/run_job.h"
#include "device_agent/agent/verbs.h"
#include "device_agent/probes/quick_probe.h"
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

Json errorJson(const Error& e) {
    return {
        {"code", static_cast<int>(e.code)}, {"what", e.what}, {"where", e.where}, {"mend", e.mend}};
}

Error usage(std::string what, std::string where) {
    return {ErrorCode::Usage, std::move(what), std::move(where), "see the protocol beside serve"};
}

std::string textAt(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class Server {
public:
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
                     {"pid", ::getpid()}});
        if (name == "stop") {
            m_stop.store(true);
            return reply(id, Json::object());
        }
        if (name == "run")
            return startRun(id, request);
        if (name == "probe")
            return answer(id, probe(textAt(request, "folder")));
        if (name == "doctor")
            return answer(id, doctor(request));
        if (name == "inspect")
            return answer(id, inspect(textAt(request, "model")));
        fail(id, usage("there is no such request", name));
    }

    static Result<Json> probe(const std::string& folder) {
        auto profile = probes::quickProbe(folder.empty() ? "/var/tmp" : folder);
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

    static Result<RunJob> jobOf(const Json& request) {
        RunJob job;
        job.request.modelPath = textAt(request, "model");
        job.request.audioPath = textAt(request, "audio");
        const auto raw = request.find("raw_greedy");
        job.request.rawGreedy = raw != request.end() && raw->is_boolean() && raw->get<bool>();
        if (const auto ids = request.find("prompt_ids"); ids != request.end() && ids->is_array())
            for (const Json& id : *ids) {
                if (!id.is_number_integer() || job.request.promptIds.size() >= 4096)
                    return usage("not a list of token ids", "prompt_ids");
                job.request.promptIds.push_back(id.get<tokenizer::Token>());
            }
        if (const auto config = request.find("config"); config != request.end()) {
            auto parsed = plan::configFromJson(*config);
            if (!parsed)
                return parsed.error();
            job.config = std::move(*parsed);
            job.config.promptTokens = 0; // follows from the ids
        }
        return job;
    }

    void startRun(const Json& id, const Json& request) {
        if (m_running.load())
            return fail(id, usage("a run is under way", "run"));
        joinRun();
        auto job = jobOf(request);
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
        m_out.control({{"id", id}, {"error", errorJson(error)}});
    }

    FrameOut m_out{STDOUT_FILENO};
    trace::FrameReader m_reader;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_running{false};
    std::thread m_run;
};

} // namespace

Result<int> serveVerb(Words words) {
    if (!words.empty())
        return Error{ErrorCode::Usage, "serve takes no flags", words[0], "leave it out"};
    Server().serve();
    return 0;
}

} // namespace shardscope::agent
