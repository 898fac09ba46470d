// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/knob_flags.h"

#include <deque>
#include <string>

#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

std::vector<base::Flag> knobFlags() {
    // Flags hold views: the sentences live as long as the program. A deque keeps them in place.
    static const std::deque<std::string> sentences = [] {
        std::deque<std::string> all;
        for (const plan::Knob& knob : plan::knobs())
            all.push_back(
                std::string(knob.help) + "\n      " + std::string(knob.values) +
                " (default: " + knob.print({}) + ")");
        return all;
    }();
    std::vector<base::Flag> flags;
    for (const plan::Knob& knob : plan::knobs())
        flags.push_back({knob.flag, "VALUE", sentences[flags.size()]});
    return flags;
}

std::vector<base::Flag> withKnobs(std::vector<base::Flag> flags) {
    for (const base::Flag& flag : knobFlags())
        flags.push_back(flag);
    return flags;
}

base::Result<plan::RunConfig> configFromArgs(const base::Args& args) {
    plan::RunConfig config;
    for (const plan::Knob& knob : plan::knobs())
        if (const auto text = args.value(knob.flag))
            if (base::Status status = plan::setKnob(config, knob.flag, *text); !status)
                return status.error();
    return config;
}

} // namespace shardscope::app
