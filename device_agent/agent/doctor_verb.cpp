// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>

#include "device_agent/agent/doctor_report.h"
#include "device_agent/agent/knob_flags.h"
#include "device_agent/agent/verbs.h"
#include "sim_engine/base/args.h"

namespace shardscope::agent {
namespace {

using base::Flag;

std::vector<Flag> doctorFlags() {
    return {
        {"--folder", "DIR", "where models and recordings lie (default: the working folder)"},
        {"--model", "FILE", "also judge a run of this model with the knobs given"},
        {"--json", "", "print the findings as JSON"},
        {"--help", "", "this text"}};
}

void print(std::vector<probes::Finding> findings) {
    std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
        return a.severity > b.severity;
    });
    for (const probes::Finding& f : findings) {
        const auto severity = probes::severityName(f.severity);
        std::printf(
            "%-8.*s %-16s %s\n", static_cast<int>(severity.size()), severity.data(),
            f.check.c_str(), f.what.c_str());
        if (!f.mend.empty())
            std::printf("%25s mend: %s\n", "", f.mend.c_str());
    }
}

} // namespace

base::Result<int> doctorVerb(Words words) {
    auto args = base::Args::parse(words, withKnobs(doctorFlags()));
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent doctor [--folder DIR] [--model FILE [knobs]] [--json]\n\n"
            "Looks for what would hurt a run on this machine, the worst first, each with its "
            "mend:\n"
            "memory and its limits, swap, storage and how it may be read, clocks and heat. "
            "Changes\n"
            "nothing; a file of 8 KiB is written to the folder for a moment.\n\n%s\nKnobs:\n\n%s",
            base::flagHelp(doctorFlags()).c_str(), knobHelp().c_str());
        return 0;
    }
    if (base::Status status = args->noRest(); !status)
        return status.error();
    auto config = configOf(*args);
    if (!config)
        return config.error();
    auto findings =
        doctorFindings(args->valueOr("--folder", "."), args->valueOr("--model", ""), *config);
    if (!findings)
        return findings.error();
    if (args->has("--json"))
        std::puts(toJson(*findings).dump(2).c_str());
    else
        print(std::move(*findings));
    return 0;
}

} // namespace shardscope::agent
