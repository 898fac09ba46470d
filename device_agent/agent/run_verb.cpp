// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/json_file.h"
#include "device_agent/agent/knob_flags.h"
#include "device_agent/agent/run_order.h"
#include "device_agent/agent/verbs.h"
#include "device_agent/engine/tokenizer/segments.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using base::Args;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;
using base::Status;

std::atomic<bool> stopWanted{false};

extern "C" void onInterrupt(int) {
    stopWanted.store(true);
}

std::vector<Flag> runFlags() {
    return {
        {"--model", "FILE", "a ggml Whisper model"},
        {"--audio", "FILE", "16 kHz mono WAV"},
        {"--json", "FILE", "write the result document; - for standard output"},
        {"--trace", "FILE", "record the run (.sst)"},
        {"--dump-mel", "FILE", "log-mel, n_mels x frames float32"},
        {"--dump-encoder", "FILE", "encoder output, positions x d float32"},
        {"--dump-logits", "FILE", "logits before suppression, steps x vocabulary float32"},
        {"--prompt-ids", "ID,ID,..", "a fixed prompt"},
        {"--cold", "", "begin with nothing of the model in the page cache, as after a start"},
        {"--raw-greedy", "", "plain argmax: nothing suppressed, no end before --max-tokens"},
        {"--no-trace", "", "no events, and so no text: the time alone, to tell what they cost"},
        {"--help", "", "this text"},
    };
}

int help() {
    std::printf(
        "shardscope-agent run --model FILE --audio FILE [knobs]\n\n"
        "Runs the model over the audio within --budget and prints the text. Knobs:\n\n%s"
        "\nOther flags:\n%s",
        knobHelp().c_str(), base::flagHelp(runFlags()).c_str());
    return 0;
}

Result<std::vector<tokenizer::Token>> parseIds(std::string_view text) {
    std::vector<tokenizer::Token> ids;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto id = base::parseInteger(text.substr(0, comma));
        if (!id || *id < 0 || *id > 1'000'000 || ids.size() >= 4096)
            return Error{
                ErrorCode::Usage, "not a list of token ids", "--prompt-ids",
                "give numbers with commas between them"};
        ids.push_back(static_cast<tokenizer::Token>(*id));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return ids;
}

Result<RunJob> jobOf(const Args& args) {
    RunJob job;
    auto config = configOf(args);
    if (!config)
        return config.error();
    job.config = std::move(*config);
    auto model = args.required("--model"), audio = args.required("--audio");
    if (!model || !audio)
        return model ? audio.error() : model.error();
    if (Status status = args.noRest(); !status)
        return status.error();
    job.request.modelPath = *model;
    job.request.audioPath = *audio;
    job.request.isCold = args.has("--cold");
    job.request.rawGreedy = args.has("--raw-greedy");
    job.request.isTraced = !args.has("--no-trace");
    job.request.dumpMel = args.valueOr("--dump-mel", "");
    job.request.dumpEncoder = args.valueOr("--dump-encoder", "");
    job.request.dumpLogits = args.valueOr("--dump-logits", "");
    job.request.stop = &stopWanted;
    auto ids = parseIds(args.valueOr("--prompt-ids", ""));
    if (!ids)
        return ids.error();
    job.request.promptIds = std::move(*ids);
    return job;
}

/// A recording under its temporary name, renamed when the run is over.
class RecordingFile {
public:
    explicit RecordingFile(std::string path) : m_path(std::move(path)) {}
    ~RecordingFile() {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    Result<int> open() {
        m_fd = ::open((m_path + ".part").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (m_fd < 0)
            return Error{ErrorCode::Failed, std::strerror(errno), m_path, "check the folder"};
        return m_fd;
    }
    Status finish() {
        if (::fsync(m_fd) != 0 && errno != EINVAL)
            return Error{ErrorCode::Failed, std::strerror(errno), m_path, "check the space left"};
        if (std::rename((m_path + ".part").c_str(), m_path.c_str()) != 0)
            return Error{ErrorCode::Failed, std::strerror(errno), m_path, "check the folder"};
        return {};
    }

private:
    std::string m_path;
    int m_fd = -1;
};

/// Performs the job with its recording, which is kept whatever the run came to.
Result<Json> performRecorded(RunJob& job, const std::string& path) {
    if (path.empty())
        return job.perform();
    RecordingFile file(path);
    auto fd = file.open();
    if (!fd)
        return fd.error();
    DescriptorSink sink(*fd);
    FrameOut out(sink);
    job.stream = &out;
    auto result = job.perform();
    if (result)
        out.control({{"result", *result}});
    else
        out.control({{"error", toJson(result.error())}});
    Status status = out.status();
    if (status)
        status = file.finish();
    return result && !status ? Result<Json>(status.error()) : std::move(result);
}

/// The text, or a line for each segment where there are times.
void printText(const Json& r) {
    if (r["segments"].empty())
        return void(std::printf("%s\n", r["text"].get<std::string>().c_str()));
    for (const Json& s : r["segments"]) {
        const auto line = tokenizer::segmentLine(
            {s["start_ms"].get<std::int64_t>(), s["end_ms"].get<std::int64_t>(),
             s["text"].get<std::string>()});
        std::printf("%s\n", line.c_str());
    }
}

void printSummary(const Json& r) {
    const auto mib = [](const Json& bytes) {
        return base::bytesText(base::Bytes(bytes.get<std::int64_t>()));
    };
    if (r.contains("language_probability"))
        std::fprintf(
            stderr, "language %s (probability %.2f)\n", r["language"].get<std::string>().c_str(),
            r["language_probability"].get<double>());
    std::fprintf(
        stderr,
        "%zu tokens, encode %.0f ms, %.2f ms/token, total %.0f ms; arena %s of %s planned, RSS %s; "
        "read %s, stall %.0f ms\n",
        r["n_tokens"].get<std::size_t>(), r["timing"]["encode_ms"].get<double>(),
        r["timing"]["decode_ms_per_token"].get<double>(), r["timing"]["total_ms"].get<double>(),
        mib(r["memory"]["arena_peak_bytes"]).c_str(),
        mib(r["memory"]["planned_peak_bytes"]).c_str(), mib(r["memory"]["rss_peak_bytes"]).c_str(),
        mib(r["io"]["bytes_read"]).c_str(), r["io"]["stall_ms"].get<double>());
}

} // namespace

Result<int> runVerb(Words words) {
    const std::vector<Flag> flags = withKnobs(runFlags());
    auto args = Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help"))
        return help();
    auto job = jobOf(*args);
    if (!job)
        return job.error();
    std::signal(SIGINT, onInterrupt);
    std::signal(SIGTERM, onInterrupt);
    auto result = performRecorded(*job, args->valueOr("--trace", ""));
    if (!result)
        return result.error();
    const std::string json = args->valueOr("--json", "");
    if (!json.empty())
        if (Status status = writeJson(json, *result); !status)
            return status.error();
    if (!job->request.isTraced) {
        std::fprintf(stderr, "total %.3f ms\n", (*result)["timing"]["total_ms"].get<double>());
        return 0;
    }
    if (json != "-")
        printText(*result);
    printSummary(*result);
    constexpr int kInterrupted = 5;
    return result->contains("stopped") ? kInterrupted : 0;
}

} // namespace shardscope::agent
