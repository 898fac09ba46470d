// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/doctor_report.h"

#include <algorithm>

#include "device_agent/agent/run_job.h"

namespace shardscope::agent {

using probes::Finding;
using probes::Severity;

base::Result<std::vector<Finding>>
doctorFindings(const std::string& folder, const std::string& model, const plan::RunConfig& config) {
    probes::Demand demand{folder, {}, base::mebibytes(6)};
    std::vector<Finding> findings;
    if (!model.empty()) {
        engine::RunRequest request;
        request.modelPath = model;
        auto plan = planFor(request, config);
        if (plan)
            demand.arena = plan->peak;
        else if (plan.error().code == base::ErrorCode::DoesNotFit)
            findings.push_back({"plan", Severity::Problem, plan.error().what, plan.error().mend});
        else
            return plan.error();
    }
    const auto seen = probes::examine(demand);
    findings.insert(findings.end(), seen.begin(), seen.end());
    return findings;
}

nlohmann::ordered_json toJson(const std::vector<Finding>& findings) {
    auto list = nlohmann::ordered_json::array();
    Severity worst = Severity::Good;
    for (const Finding& f : findings) {
        worst = std::max(worst, f.severity);
        list.push_back(
            {{"check", f.check},
             {"severity", probes::severityName(f.severity)},
             {"what", f.what},
             {"mend", f.mend}});
    }
    return {{"worst", probes::severityName(worst)}, {"findings", std::move(list)}};
}

} // namespace shardscope::agent
