// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a run, from its events: one code for measured and simulated runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

struct Summary {
    double melMs = 0;    ///< sums over the windows of the run
    double encodeMs = 0; ///< without mel
    double crossKvMs = 0;
    double firstTokenMs = 0;     ///< begin of the run to the first token
    double decodeMsPerToken = 0; ///< mean over decode steps (of all beams); prefill is not one
    double totalMs = 0;
    std::int64_t arenaPeak = 0; ///< end of the highest piece of the arena that was held
    std::int64_t rssPeak = 0;   ///< 0 where it was not sampled
    std::int64_t bytesRead = 0;
    std::int64_t reads = 0;
    double readMs = 0;
    double stallMs = 0;
    double hiddenFraction = 1; ///< of the read time, what no op waited for
    std::vector<std::uint32_t> tokens;
};

/// Takes events as they come; its memory grows with the tokens alone.
class SummaryBuilder {
public:
    /// `legend` must outlive the builder.
    explicit SummaryBuilder(const trace::Legend& legend) : m_legend(legend) {}

    void add(const trace::Event& event);
    Summary summary() const;

private:
    void countStep(const trace::Event& step, bool isFirst);
    void enterPhase(std::int32_t phase, std::uint64_t at);

    const trace::Legend& m_legend;
    Summary m_summary;
    std::int32_t m_phase = -1;
    std::uint64_t m_phaseBegin = 0;
    std::uint64_t m_lastToken = 0; ///< or step of a beam search
    bool m_searches = false;       ///< steps take time, and tokens tell the text
    std::uint64_t m_end = 0;
    std::array<std::uint64_t, model::kPassCount> m_phaseNs{};
    std::uint64_t m_melNs = 0, m_decodeNs = 0, m_decodeSteps = 0, m_readNs = 0, m_stallNs = 0;
};

Summary summarise(const trace::Trace& trace);

/// The document that `run` and `simulate` print: "text", "segments" (empty: who ran it fills it),
/// "language", "tokens", "n_tokens", "feasible", "timing", "memory", "io", "plan", "config".
/// `loader` is the one that was used.
nlohmann::ordered_json resultJson(
    const Summary& summary, const plan::Plan& plan, std::string_view loader, std::string_view text);

/// The same for a plan that does not fit: "feasible" false, and "infeasible" with what would fit.
nlohmann::ordered_json infeasibleJson(const plan::Infeasible& why, const plan::RunConfig& config);

} // namespace shardscope::analyze
