// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "device_agent/agent/verbs.h"
#include "device_agent/probes/quick_probe.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"

namespace shardscope::agent {

base::Result<int> probeVerb(Words words) {
    const std::vector<base::Flag> flags{
        {"--folder", "DIR", "where the storage is measured (default: $TMPDIR or /var/tmp)"},
        {"--json", "", "print the profile as JSON"},
        {"--help", "", "this text"}};
    auto args = base::Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent probe [--json]\n\nMeasures this machine in a few seconds.\n\n%s",
            base::flagHelp(flags).c_str());
        return 0;
    }
    const char* temporary = std::getenv("TMPDIR");
    const std::string folder = args->valueOr("--folder", temporary ? temporary : "/var/tmp");
    auto profile = probes::quickProbe(folder);
    if (!profile)
        return profile.error();
    if (args->has("--json")) {
        std::puts(plan::toJson(*profile).dump(2).c_str());
        return 0;
    }
    std::printf(
        "%s, %d cores (%d fast), %s RAM\nstorage: %s, %s\nmemory: %s with one thread\n",
        profile->cpu.c_str(), profile->cores, profile->fastCores,
        base::bytesText(profile->ramTotal).c_str(), profile->storage.c_str(),
        base::rateText(profile->readBytesPerSecond).c_str(),
        base::rateText(profile->memoryBytesPerSecond).c_str());
    return 0;
}

} // namespace shardscope::agent
