// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/knob_flags.h"

#include "sim_engine/plan/knobs.h"

namespace shardscope::agent {

std::vector<base::Flag> withKnobs(std::vector<base::Flag> flags) {
    for (const plan::Knob& knob : plan::knobs())
        flags.push_back({knob.flag, "VALUE", knob.help});
    return flags;
}

base::Result<plan::RunConfig> configOf(const base::Args& args) {
    plan::RunConfig config;
    for (const plan::Knob& knob : plan::knobs())
        if (const auto value = args.value(knob.flag))
            if (base::Status status = plan::setKnob(config, knob.flag, *value); !status)
                return status.error();
    return config;
}

std::string knobHelp() {
    constexpr std::size_t kColumn = 18;
    std::string text;
    for (const plan::Knob& knob : plan::knobs()) {
        std::string flag = "  " + std::string(knob.flag);
        flag.resize(std::max(kColumn, flag.size() + 1), ' ');
        text += flag + std::string(knob.values) + "\n" + std::string(kColumn, ' ') +
                std::string(knob.help) + "\n";
    }
    return text;
}

} // namespace shardscope::agent
