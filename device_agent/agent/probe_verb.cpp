// SPDX-License-Identifier: GPL-3.0-or-later
#include <chrono>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "device_agent/agent/verbs.h"
#include "device_agent/probes/probe.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"

namespace shardscope::agent {
namespace {

using plan::BoardProfile;
using plan::KernelClass;
using plan::ReadPath;

constexpr base::Flag kFlags[] = {
    {"--folder", "DIR", "where the storage is measured (default: $TMPDIR or /var/tmp)"},
    {"--quick", "", "in some seconds: fewer sizes and types, one round"},
    {"--json", "", "print the profile as JSON"},
    {"--help", "", "this text"}};

int help() {
    std::printf(
        "shardscope-agent probe [--quick] [--folder DIR] [--json]\n\n"
        "Measures this machine in less than a minute: reads by size and depth, cold and past the\n"
        "page cache, with p50 and p99; memory bandwidth; the engine's own kernels by op, type and\n"
        "shape; threads; what computing loses while reading; page faults. Progress goes to "
        "stderr.\n\n"
        "The storage is measured on a file of up to 256 MiB that is written into --folder and\n"
        "removed. Give a folder on the storage of the models. A read counts as one of the device\n"
        "only where the file was cold before (mincore) and the kernel counted its bytes as read\n"
        "(/proc/self/io); what the page cache served is left out, and the profile says so.\n\n"
        "Each thing is measured in rounds that lie seconds apart and the best round counts, so\n"
        "that a busy machine gives near the same; \"noise\" tells how far the rounds lay "
        "apart.\n\n%s",
        base::flagHelp(kFlags).c_str());
    return 0;
}

std::string rate(double bytesPerSecond) {
    return base::rateText(bytesPerSecond);
}

std::string nanos(double ns) {
    return base::timeText(base::Nanos(static_cast<std::int64_t>(ns)));
}

void printReads(const BoardProfile& b) {
    std::printf(
        "\n%-9s %9s %6s %10s %10s %12s\n", "reads", "request", "depth", "p50", "p99", "rate");
    for (const plan::ReadPoint& p : b.reads)
        std::printf(
            "%-9s %9s %6d %10s %10s %12s\n", std::string(readPathName(p.path)).c_str(),
            base::bytesText(p.bytes).c_str(), p.depth, nanos(p.p50Ns).c_str(),
            nanos(p.p99Ns).c_str(), rate(p.bytesPerSecond).c_str());
    for (const auto& [key, words] : b.sources)
        std::printf("%s: %s\n", key.c_str(), words.c_str());
}

void printKernels(const BoardProfile& b) {
    constexpr model::DType kTypes[] = {
        model::DType::F32, model::DType::F16, model::DType::Q8_0, model::DType::Q5_0,
        model::DType::Q4_0};
    std::printf("\n%-17s", "Gop/s, 1 thread");
    for (const model::DType type : kTypes)
        std::printf(" %8s", std::string(model::dtypeName(type)).c_str());
    for (std::size_t kernel = 0; kernel < plan::kKernelClassCount; ++kernel)
        for (const bool streamed : {false, true}) {
            const auto which = static_cast<KernelClass>(kernel);
            const bool streams = which == KernelClass::MatVec || which == KernelClass::RowsMatVec ||
                                 which == KernelClass::DecodeAttention;
            if (streamed && !streams)
                continue;
            std::printf(
                "\n%-17s", (std::string(kernelClassName(which)) + (streamed ? " *" : "")).c_str());
            for (const model::DType type : kTypes)
                std::printf(" %8.2f", b.kernelRate({which, type}, streamed) * 1e-9);
        }
    std::printf("\n* on weights or caches that come from memory\n\n");
}

void printProfile(const BoardProfile& b) {
    std::printf(
        "%s, %d cores (%d fast), %s RAM\n%s %s, %s kernels\nstorage: %s\n", b.cpu.c_str(), b.cores,
        b.fastCores, base::bytesText(b.ramTotal).c_str(), b.machine.kernel.c_str(),
        b.machine.architecture.c_str(), b.machine.vectorTarget.c_str(), b.storage.c_str());
    if (b.machine.cgroupLimit.value > 0)
        std::printf(
            "a cgroup limits memory to %s\n", base::bytesText(b.machine.cgroupLimit).c_str());
    printReads(b);
    printKernels(b);
    for (const plan::ThreadPoint& t : b.threadScaling)
        std::printf(
            "%d thread%s: products %.2f times as fast, memory %s\n", t.threads,
            t.threads > 1 ? "s" : "", t.computeSpeedUp, rate(t.memoryBytesPerSecond).c_str());
    std::printf(
        "an op costs %s beside its work with one thread, %s with all; a token %s\n",
        nanos(b.opFixedAloneNs).c_str(), nanos(b.opFixedNs).c_str(), nanos(b.tokenFixedNs).c_str());
    const auto known = [](const std::optional<double>& value, auto&& words) {
        return value ? words(*value) : std::string("not measured");
    };
    const auto share = [](double lost) { return base::formatted("%.0f %%", lost * 100); };
    std::printf(
        "a page: populate %s, lazy %s; maps that are cold: %s populated, %s lazy\n",
        nanos(b.pageFaultNs).c_str(), known(b.minorFaultNs, nanos).c_str(),
        known(b.populatedBytesPerSecond, rate).c_str(),
        known(b.mappedBytesPerSecond, rate).c_str());
    std::printf(
        "computing loses beside reads: %s cached, %s direct, %s throttled\n%s\n",
        share(b.overlap).c_str(), known(b.overlapDirect, share).c_str(),
        known(b.overlapThrottled, share).c_str(), b.noise ? b.noise->words.c_str() : "");
}

} // namespace

base::Result<int> probeVerb(Words words) {
    auto args = base::Args::parse(words, kFlags);
    if (!args)
        return args.error();
    if (args->has("--help"))
        return help();
    if (base::Status status = args->noRest(); !status)
        return status.error();
    const auto begin = std::chrono::steady_clock::now();
    const auto progress = [begin](const std::string& what) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        std::fprintf(stderr, "[%4.1f s] %s\n", spent.count(), what.c_str());
    };
    const auto profile =
        probes::probe({args->valueOr("--folder", ""), args->has("--quick"), progress});
    if (!profile)
        return profile.error();
    progress("done");
    if (args->has("--json"))
        std::puts(plan::toJson(*profile).dump(2).c_str());
    else
        printProfile(*profile);
    return 0;
}

} // namespace shardscope::agent
