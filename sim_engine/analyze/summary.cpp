// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/summary.h"

#include <algorithm>

namespace shardscope::analyze {

using model::PassKind;
using trace::Event;
using trace::EventKind;

void SummaryBuilder::enterPhase(std::int32_t phase, std::uint64_t at) {
    if (m_phase >= 0)
        m_phaseNs[static_cast<std::size_t>(m_phase)] += at - std::min(at, m_phaseBegin);
    m_phase = phase;
    m_phaseBegin = at;
}

void SummaryBuilder::countStep(const Event& step, bool isFirst) {
    if (isFirst)
        m_summary.firstTokenMs = static_cast<double>(step.t_ns) * 1e-6;
    if (step.a > 0) {
        m_decodeNs += step.t_ns - std::min(step.t_ns, m_lastToken);
        ++m_decodeSteps;
    }
    m_lastToken = step.t_ns;
}

void SummaryBuilder::add(const Event& e) {
    m_end = std::max(m_end, static_cast<std::uint64_t>(e.end().value));
    switch (e.kind) {
    case EventKind::Phase:
        enterPhase(static_cast<std::int32_t>(e.id), e.t_ns);
        break;
    case EventKind::Compute:
        if (m_legend.ops[e.id].kind == model::OpKind::Mel)
            m_melNs += e.a;
        break;
    case EventKind::Read:
        m_summary.bytesRead += static_cast<std::int64_t>(e.b);
        ++m_summary.reads;
        m_readNs += e.a;
        if (e.id == trace::kRowRead)
            m_stallNs += e.a; // rows are read when they are needed: nothing hides that
        break;
    case EventKind::Stall:
        m_stallNs += e.a;
        break;
    case EventKind::Load:
    case EventKind::Alloc:
        m_summary.arenaPeak = std::max(m_summary.arenaPeak, static_cast<std::int64_t>(e.a + e.b));
        break;
    case EventKind::Counter:
        if (static_cast<trace::CounterKind>(e.id) == trace::CounterKind::Rss)
            m_summary.rssPeak = std::max(m_summary.rssPeak, static_cast<std::int64_t>(e.a));
        break;
    case EventKind::Token:
        if (!m_searches)
            countStep(e, m_summary.tokens.empty());
        m_summary.tokens.push_back(e.id);
        break;
    case EventKind::Step:
        countStep(e, !m_searches);
        m_searches = true;
        break;
    case EventKind::Window:
    case EventKind::RunEnd:
        enterPhase(-1, e.t_ns);
        break;
    default:
        break;
    }
}

Summary SummaryBuilder::summary() const {
    Summary s = m_summary;
    const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
    s.melMs = ms(m_melNs);
    s.encodeMs = ms(m_phaseNs[static_cast<std::size_t>(PassKind::Encode)]) - s.melMs;
    s.crossKvMs = ms(m_phaseNs[static_cast<std::size_t>(PassKind::Cross)]);
    s.decodeMsPerToken =
        m_decodeSteps > 0 ? ms(m_decodeNs) / static_cast<double>(m_decodeSteps) : 0;
    s.totalMs = ms(m_end);
    s.readMs = ms(m_readNs);
    s.stallMs = ms(m_stallNs);
    s.hiddenFraction = m_readNs > 0 ? std::clamp(1 - s.stallMs / s.readMs, 0.0, 1.0) : 1;
    return s;
}

Summary summarise(const trace::Trace& trace) {
    SummaryBuilder builder(trace.legend);
    for (const Event& e : trace.events)
        builder.add(e);
    return builder.summary();
}

} // namespace shardscope::analyze
