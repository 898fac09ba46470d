// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/analyze/token_bars.h"

#include <algorithm>

#include "sim_engine/model/graph.h"

namespace shardscope::analyze {

using base::Nanos;
using trace::EventKind;

void TokenBars::clear() {
    *this = {};
}

void TokenBars::add(const trace::Event& event) {
    const auto t = static_cast<std::int64_t>(event.t_ns);
    switch (event.kind) {
    case EventKind::Phase: {
        const auto pass = static_cast<model::PassKind>(event.id);
        if (pass == model::PassKind::Prefill) {
            m_open = {};
            m_open.begin = t;
            m_open.first = true;
        }
        m_decoding = pass == model::PassKind::Prefill || pass == model::PassKind::Decode;
        break;
    }
    case EventKind::Compute:
        addCompute(event);
        break;
    case EventKind::Read:
        if (event.lane == trace::Lane::Compute) {
            m_open.read += static_cast<std::int64_t>(event.a);
            m_rowReadTime += static_cast<std::int64_t>(event.a);
            m_rowReadBegin = t;
        }
        break;
    case EventKind::Stall:
        m_open.stall += static_cast<std::int64_t>(event.a);
        break;
    case EventKind::Token:
        m_searches ? nameBar(event) : closeBar(event, event.id);
        break;
    case EventKind::Step:
        m_searches = true;
        closeBar(event, kNoToken);
        break;
    default:
        break;
    }
}

void TokenBars::closeBar(const trace::Event& event, std::uint32_t token) {
    if (!m_decoding)
        return;
    TokenBar bar = m_open;
    bar.token = token;
    bar.number = static_cast<std::uint32_t>(event.a);
    bar.window = static_cast<std::uint32_t>(event.b);
    bar.end = std::max(static_cast<std::int64_t>(event.t_ns), bar.begin);
    bar.other = std::max<std::int64_t>(0, bar.total() - bar.compute - bar.read - bar.stall);
    m_bars.push_back(bar);
    m_open = {};
    m_open.begin = bar.end;
    m_rowReadTime = 0;
}

/// The bar is among the last ones: those of the windows that are decoded together.
void TokenBars::nameBar(const trace::Event& token) {
    const auto bar = std::find_if(m_bars.rbegin(), m_bars.rend(), [&](const TokenBar& b) {
        return b.number == token.a && b.window == token.b;
    });
    if (bar != m_bars.rend())
        bar->token = token.id;
}

void TokenBars::addCompute(const trace::Event& event) {
    std::int64_t time = static_cast<std::int64_t>(event.a);
    // An op that fetches rows encloses its reads; they are not counted twice.
    if (m_rowReadTime > 0 && static_cast<std::int64_t>(event.t_ns) <= m_rowReadBegin)
        time = std::max<std::int64_t>(0, time - m_rowReadTime);
    m_rowReadTime = 0;
    m_open.compute += time;
}

std::size_t TokenBars::firstEndingAfter(std::int64_t t) const {
    const auto it =
        std::upper_bound(m_bars.begin(), m_bars.end(), t, [](std::int64_t at, const TokenBar& bar) {
            return at < bar.end;
        });
    return static_cast<std::size_t>(it - m_bars.begin());
}

std::optional<std::uint32_t> TokenBars::barAt(Nanos t) const {
    const std::size_t i = firstEndingAfter(t.value);
    if (i == m_bars.size() || m_bars[i].begin > t.value)
        return std::nullopt;
    return static_cast<std::uint32_t>(i);
}

Percentiles TokenBars::percentiles(Nanos begin, Nanos end) const {
    std::vector<std::int64_t> totals;
    for (std::size_t i = firstEndingAfter(begin.value - 1);
         i < m_bars.size() && m_bars[i].end <= end.value; ++i)
        if (!m_bars[i].first)
            totals.push_back(m_bars[i].total());
    Percentiles result;
    result.count = totals.size();
    if (totals.empty())
        return result;
    std::sort(totals.begin(), totals.end());
    const auto rank = [&totals](std::size_t percent) {
        return totals[(totals.size() * percent + 99) / 100 - 1];
    };
    result.p50 = rank(50);
    result.p90 = rank(90);
    result.p99 = rank(99);
    result.max = totals.back();
    return result;
}

std::vector<TokenMark> TokenBars::marks(Nanos begin, Nanos end, Nanos shortest) const {
    std::vector<TokenMark> result;
    for (std::size_t i = firstEndingAfter(begin.value);
         i < m_bars.size() && m_bars[i].begin < end.value; ++i) {
        const TokenBar& bar = m_bars[i];
        const auto index = static_cast<std::uint32_t>(i);
        TokenMark* last = result.empty() ? nullptr : &result.back();
        if (last && bar.end - last->begin < shortest.value && bar.total() < shortest.value) {
            ++last->count;
            last->end = bar.end;
            last->minTotal = std::min(last->minTotal, bar.total());
            if (bar.total() > m_bars[last->slowest].total())
                last->slowest = index;
            continue;
        }
        result.push_back({index, 1, bar.begin, bar.end, bar.total(), index});
    }
    return result;
}

} // namespace shardscope::analyze
