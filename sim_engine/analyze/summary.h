// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a run, from its events: one code for measured and simulated runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::analyze {

struct Summary {
    double melMs = 0;    ///< per run; further windows are added
    double encodeMs = 0; ///< without mel
    double crossKvMs = 0;
    double firstTokenMs = 0;     ///< begin of the run to the first token
    double decodeMsPerToken = 0; ///< mean over decode steps (prefill not counted)
    double totalMs = 0;
    std::int64_t arenaPeak = 0;
    std::int64_t rssPeak = 0; ///< 0 where it was not sampled
    std::int64_t bytesRead = 0;
    std::int64_t reads = 0;
    double readMs = 0;
    double stallMs = 0;
    double hiddenFraction = 1; ///< of read time that no op waited for
    std::vector<std::uint32_t> tokens;
};

/// Takes events as they come, in bounded memory (beside the token list).
class SummaryBuilder {
public:
    void add(const trace::Event& event);
    Summary summary() const;

private:
    enum class Clock : std::uint8_t { None, Mel, Encode, Cross, Prefill, Decode };
    void closePhase(std::uint64_t at);

    Summary m_summary;
    Clock m_clock = Clock::None;
    std::uint64_t m_phaseBegin = 0;
    std::uint64_t m_last = 0;
    std::uint64_t m_decodeNs = 0, m_decodeSteps = 0;
    std::int64_t m_arenaUsed = 0;
    std::uint64_t m_readNs = 0, m_stallNs = 0;
    double m_melNs = 0, m_encodeNs = 0, m_crossNs = 0;
    bool m_firstToken = true;
};

Summary summarise(const trace::Trace& trace);

/// The document that `run` and `simulate` print (keys "timing", "memory", "io", "plan", "config",
/// "tokens", "n_tokens", "text", "feasible").
nlohmann::ordered_json resultJson(
    const Summary& summary, const plan::Plan& plan, std::string_view loader, std::string_view text);

/// The same document for a plan that does not fit: feasible false, and what would fit.
nlohmann::ordered_json infeasibleJson(const plan::Infeasible& why, const plan::RunConfig& config);

} // namespace shardscope::analyze
