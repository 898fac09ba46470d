// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/run_order.h"
#include "device_agent/agent/spool_file.h"
#include "device_agent/agent/verbs.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ErrorCode;

std::atomic<bool> stopWanted{false};

extern "C" void onStop(int) {
    stopWanted.store(true);
}

std::string allOfStandardInput() {
    constexpr std::size_t kMost = 4u << 20;
    std::string text;
    char piece[4096];
    for (ssize_t n = 0; text.size() < kMost;) {
        n = ::read(STDIN_FILENO, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        text.append(piece, static_cast<std::size_t>(n));
    }
    return text;
}

} // namespace

/// spool FILE: performs the "run" request on standard input and writes its stream into FILE.
/// `serve` starts it; a byte on standard output tells that the file is locked and the run begins.
base::Result<int> spoolVerb(Words words) {
    if (words.size() != 1)
        return Error{ErrorCode::Usage, "one spool file is needed", "spool", "serve starts this"};
    const Json request = trace::parseControl(allOfStandardInput());
    if (!request.is_object())
        return Error{ErrorCode::Usage, "no request on standard input", "spool", ""};
    constexpr std::int64_t kMostMiB = 256;
    const base::Bytes most = base::mebibytes(numberAt(request, "spool_mib").value_or(kMostMiB));
    auto file = SpoolFile::open(words[0], most);
    if (!file)
        return file.error();
    std::signal(SIGTERM, onStop);
    std::signal(SIGINT, onStop);
    std::signal(SIGALRM, onStop);
    std::signal(SIGHUP, SIG_IGN);
    if (const auto limit = numberAt(request, "limit_s"); limit && *limit > 0)
        ::alarm(static_cast<unsigned>(std::min<std::int64_t>(*limit, 30 * 86400)));
    std::fputc('\n', stdout);
    std::fflush(stdout);

    FrameOut out(**file);
    auto job = jobFromJson(request);
    if (!job) {
        out.control({{"error", toJson(job.error())}});
        return job.error();
    }
    job->stream = &out;
    job->request.stop = &stopWanted;
    job->appendText = [&](const std::string& text) { out.control({{"text", {{"append", text}}}}); };
    auto result = job->perform();
    if (!result) {
        out.control({{"error", toJson(result.error())}});
        return result.error();
    }
    out.control({{"result", std::move(*result)}});
    return 0;
}

} // namespace shardscope::agent
