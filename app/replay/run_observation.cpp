// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replay/run_observation.h"

#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;

plan::Loader usedLoader(plan::Loader asked, const nlohmann::ordered_json& result) {
    if (!result.is_object() || !result.contains("io") || !result["io"].is_object() ||
        !result["io"].contains("loader") || !result["io"]["loader"].is_string())
        return asked;
    plan::RunConfig used;
    used.loader = asked;
    (void)plan::setKnob(used, "loader", result["io"]["loader"].get<std::string>());
    return used.loader;
}

base::Result<analyze::RunObservation>
observationOf(const RunContent& content, const plan::BoardProfile& prior, const std::string& name) {
    if (!content.card())
        return Error{ErrorCode::BadInput, "the recording names no model", name, "give another"};
    auto plan = plan::planOrError(content.card(), content.config(), prior);
    if (!plan)
        return plan.error();
    auto seen = analyze::observe(
        content.trace(), *plan, usedLoader(content.config().loader, content.recording().result),
        prior, content.isCold());
    if (!seen)
        return Error{seen.error().code, seen.error().what, name, seen.error().mend};
    return seen;
}

} // namespace shardscope::app
