// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/beam_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shardscope::engine {

using tokenizer::Token;

namespace {

/// log(e^a + e^b).
double logSumOf(double a, double b) {
    const double most = std::max(a, b), least = std::min(a, b);
    return std::isinf(least) ? most : most + std::log1p(std::exp(least - most));
}

bool isBetter(const RankedToken& a, const RankedToken& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/// Whether the last tokens of a text are as varied as those of speech: their entropy, in nats. The
/// limits are whisper.cpp's.
bool areVaried(std::span<const std::uint32_t> tokens) {
    constexpr std::size_t kLast = 32;
    constexpr double kLeastEntropy = 2.4;
    if (tokens.size() <= kLast)
        return true;
    const auto last = tokens.last(kLast);
    double entropy = 0; // each token adds its share of -p log p
    for (const std::uint32_t token : last)
        entropy += std::log(
            static_cast<double>(kLast) /
            static_cast<double>(std::count(last.begin(), last.end(), token)));
    return entropy / kLast >= kLeastEntropy;
}

} // namespace

void BeamScores::begin(std::int32_t step, const tokenizer::TimestampHistory& history) {
    m_step = step;
    m_text.begin(m_wanted);
    m_times.begin(m_wanted);
    m_timeSum = {};
    m_allowed = history.next();
}

void BeamScores::take(const float* logits, std::size_t count, std::size_t first) {
    if (m_picking == Picking::Raw)
        return m_text.take(logits, count, first, {});
    const std::span<const std::uint64_t> barred(m_suppression.at(m_step).words());
    if (m_picking == Picking::Text)
        return m_text.take(logits, count, first, barred);
    if (const IdCut cut(first, count, m_allowed.text); !cut.empty())
        m_text.take(logits + (cut.begin - first), cut.count(), cut.begin, barred);
    if (const IdCut cut(first, count, m_allowed.timestamps); !cut.empty()) {
        const float* const times = logits + (cut.begin - first);
        m_times.take(times, cut.count(), cut.begin, {});
        m_timeSum.take(times, cut.count(), static_cast<Token>(cut.begin));
    }
}

std::span<const BeamScores::Candidate> BeamScores::finish(Candidates& out) {
    m_text.finish();
    m_times.finish();
    std::span<const RankedToken> text = m_text.best(), times = m_times.best();
    const double all = logSumOf(m_text.logSum(), m_timeSum.logSum());
    // Timestamps that are together above every text token leave it no chance; the probabilities
    // stay those among all.
    if (!times.empty() && !text.empty() && m_timeSum.logSum() > double{text[0].logit})
        text = {};
    std::size_t count = 0;
    while (count < m_wanted && (!text.empty() || !times.empty())) {
        auto& from = times.empty() || (!text.empty() && isBetter(text[0], times[0])) ? text : times;
        const double p = double{from[0].logit} - all;
        out[count++] = {from[0].id, std::isnan(p) ? 0 : p}; // NaN: the logit is infinite
        from = from.subspan(1);
    }
    // Without any every logit was NaN or suppressed: the text ends here.
    if (count == 0)
        out[count++] = {m_eot, 0};
    return std::span(out).first(count);
}

BeamSearch::BeamSearch(
    const tokenizer::Vocabulary& vocabulary, const tokenizer::Suppression& suppression,
    Picking picking, std::int32_t beams, std::int32_t mostTokens, std::size_t positions)
    : m_eot(vocabulary.special().eot), m_picking(picking), m_width(static_cast<std::size_t>(beams)),
      m_most(static_cast<std::size_t>(mostTokens)), m_positions(positions),
      m_rows(m_width * positions), m_best{{}, 0, 0, 0, tokenizer::TimestampHistory(vocabulary)} {
    m_best.tokens.reserve(m_most);
    for (auto* list : {&m_beams, &m_nextBeams})
        for (list->reserve(m_width); list->size() < m_width;) {
            list->push_back(m_best);
            list->back().tokens.reserve(m_most);
        }
    for (m_scores.reserve(m_width); m_scores.size() < m_width;)
        m_scores.emplace_back(vocabulary, suppression, picking, m_width);
}

void BeamSearch::beginWindow(std::int64_t frames, std::size_t promptTokens) {
    m_frames = frames;
    m_position = promptTokens;
    m_ended = 0;
    m_bestRank = {};
    m_best.tokens.clear();
    m_count = 1;
    m_beams[0].tokens.clear();
    m_beams[0].sum = 0;
    m_beams[0].slot = 0;
    m_beams[0].history.clear();
    std::fill_n(m_rows.begin(), m_positions, std::uint8_t{0}); // the prompt stands at slot 0
}

void BeamSearch::beginStep(std::int32_t step) {
    for (std::size_t i = 0; i < m_count; ++i)
        m_scores[i].begin(step, m_beams[i].history);
}

std::int32_t BeamSearch::finishStep() {
    Children children;
    placeChildren(bestChildren(children));
    if (isDecided())
        m_count = 0;
    return beams();
}

/// As many continuations as there are places, the likeliest first.
std::span<const BeamSearch::Child> BeamSearch::bestChildren(Children& out) {
    const std::size_t places = m_width - m_ended;
    std::size_t found = 0;
    BeamScores::Candidates candidates;
    for (std::size_t parent = 0; parent < m_count; ++parent)
        for (const auto& candidate : m_scores[parent].finish(candidates)) {
            const double sum = m_beams[parent].sum + candidate.logProbability;
            if (found == places && !(sum > out[found - 1].sum))
                break; // those behind it are not better
            std::size_t at = found < places ? found++ : found - 1;
            for (; at > 0 && sum > out[at - 1].sum; --at)
                out[at] = out[at - 1];
            out[at] = {parent, candidate.token, sum};
        }
    return std::span(out).first(found);
}

void BeamSearch::placeChildren(std::span<const Child> children) {
    std::size_t count = 0;
    for (const Child& child : children) {
        const Beam& parent = m_beams[child.parent];
        Beam& beam = m_nextBeams[count];
        beam.tokens = parent.tokens;
        beam.tokens.push_back(static_cast<std::uint32_t>(child.token));
        beam.sum = child.sum;
        beam.parentSlot = parent.slot;
        beam.history = parent.history;
        beam.history.add(child.token);
        if (isTextOver(m_picking, child.token, m_eot, beam.history, m_frames))
            end(beam);
        else
            ++count;
    }
    std::swap(m_beams, m_nextBeams);
    m_count = count;
    giveSlots(count);
}

/// The first child of a beam goes on at its slot; the others get slots that nobody writes to any
/// more, and the list of the rows so far.
void BeamSearch::giveSlots(std::size_t count) {
    std::array<bool, plan::kMostBeams> isTaken{};
    for (std::size_t i = 0; i < count; ++i) {
        Beam& beam = m_beams[i];
        beam.slot = isTaken[beam.parentSlot] ? kNoSlot : beam.parentSlot;
        isTaken[beam.parentSlot] = true;
    }
    for (std::size_t i = 0; i < count; ++i) {
        Beam& beam = m_beams[i];
        if (beam.slot != kNoSlot)
            continue;
        beam.slot = static_cast<std::size_t>(
            std::find(isTaken.begin(), isTaken.end(), false) - isTaken.begin());
        isTaken[beam.slot] = true;
        std::copy_n(
            m_rows.begin() + static_cast<std::ptrdiff_t>(beam.parentSlot * m_positions),
            std::min(m_position, m_positions),
            m_rows.begin() + static_cast<std::ptrdiff_t>(beam.slot * m_positions));
    }
    for (std::size_t i = 0; i < count && m_position < m_positions; ++i)
        m_rows[m_beams[i].slot * m_positions + m_position] =
            static_cast<std::uint8_t>(m_beams[i].slot);
    ++m_position;
}

void BeamSearch::end(const Beam& beam) {
    ++m_ended;
    const Rank rank = rankOf(beam, true);
    if (!m_best.tokens.empty() && !(rank > m_bestRank))
        return;
    m_best = beam;
    m_bestRank = rank;
}

/// Whether no beam that goes on can come to a better end. The most that one can reach is the mean
/// of what it has with certain tokens up to the last that a window may have.
bool BeamSearch::isDecided() const {
    if (m_best.tokens.empty() || !m_bestRank.isVaried)
        return m_count == 0;
    return std::all_of(
        m_beams.begin(), m_beams.begin() + static_cast<std::ptrdiff_t>(m_count),
        [&](const Beam& beam) { return beam.sum / static_cast<double>(m_most) < m_bestRank.mean; });
}

BeamSearch::Rank BeamSearch::rankOf(const Beam& beam, bool hasEnded) {
    return {hasEnded, areVaried(beam.tokens), beam.mean()};
}

std::span<const std::uint32_t> BeamSearch::tokens() const {
    const Beam* best = m_best.tokens.empty() ? nullptr : &m_best;
    for (std::size_t i = 0; i < m_count; ++i)
        if (!best || (best != &m_best && rankOf(m_beams[i], false) > rankOf(*best, false)))
            best = &m_beams[i];
    return best ? std::span<const std::uint32_t>(best->tokens) : std::span<const std::uint32_t>();
}

} // namespace shardscope::engine
