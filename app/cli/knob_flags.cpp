// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/knob_flags.h"

#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

std::vector<base::Flag> knobFlags() {
    std::vector<base::Flag> flags;
    for (const plan::Knob& knob : plan::knobs())
        flags.push_back({knob.flag, "VALUE", knob.help});
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
