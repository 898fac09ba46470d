// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <csignal>
#include <cstdio>
#include <unistd.h>

#include "device_agent/agent/verbs.h"
#include "device_agent/engine/quantize/quantize_file.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"

namespace shardscope::agent {
namespace {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;

std::atomic<bool> stopWanted{false};

extern "C" void stopQuantizing(int) {
    stopWanted.store(true);
}

/// A line on a terminal that counts up; nothing in a log.
class Progress {
public:
    ~Progress() {
        if (m_percent >= 0)
            std::fputs("\r\033[K", stderr);
    }
    void show(Bytes done, Bytes all) {
        const auto percent = static_cast<int>(100.0 * done.real() / all.real());
        if (!m_isShown || percent == m_percent)
            return;
        m_percent = percent;
        std::fprintf(stderr, "\r%d %% of %s", percent, base::bytesText(all).c_str());
    }

private:
    bool m_isShown = ::isatty(STDERR_FILENO) == 1;
    int m_percent = -1;
};

Result<model::DType> typeOf(const base::Args& args) {
    auto name = args.required("--type");
    if (!name)
        return name.error();
    const auto type = model::dtypeByName(*name);
    if (!type || model::blockElements(*type) == 1)
        return Error{
            ErrorCode::Usage, "there is no such type of weights: " + *name, "--type",
            "give q8_0, q5_1, q5_0, q4_1 or q4_0"};
    return *type;
}

} // namespace

Result<int> quantizeVerb(Words words) {
    const std::vector<base::Flag> flags{
        {"--type", "T", "q8_0, q5_1, q5_0, q4_1 or q4_0"}, {"--help", "", "this text"}};
    auto args = base::Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent quantize IN OUT --type T\n\nWrites a model with quantised matrices, "
            "in little memory; whisper.cpp reads it, too.\n\n%s",
            base::flagHelp(flags).c_str());
        return 0;
    }
    if (args->rest().size() != 2)
        return Error{
            ErrorCode::Usage, "an input and an output are needed", "quantize", "see --help"};
    auto type = typeOf(*args);
    if (!type)
        return type.error();
    std::signal(SIGINT, stopQuantizing);
    std::signal(SIGTERM, stopQuantizing);
    const std::string &in = args->rest()[0], &out = args->rest()[1];
    const auto done = [&] {
        Progress progress;
        return engine::quantizeFile(in, out, *type, [&](Bytes at, Bytes all) {
            progress.show(at, all);
            return !stopWanted.load();
        });
    }();
    if (!done)
        return done.error();
    std::printf(
        "%s: %d matrices as %s, %d tensors kept; %s from %s\n", out.c_str(), done->tensors,
        std::string(model::dtypeName(*type)).c_str(), done->kept,
        base::bytesText(done->bytesAfter).c_str(), base::bytesText(done->bytesBefore).c_str());
    return 0;
}

} // namespace shardscope::agent
