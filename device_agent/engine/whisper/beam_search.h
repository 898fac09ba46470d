// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_agent/engine/tokenizer/suppression.h"
#include "device_agent/engine/tokenizer/timestamp_rules.h"
#include "device_agent/engine/tokenizer/vocabulary.h"
#include "device_agent/engine/whisper/logit_rank.h"
#include "device_agent/engine/whisper/token_pick.h"

namespace shardscope::engine {

/// What may follow one beam, with log probabilities among all that is allowed there.
/// Thread-compatible; allocates nothing.
class BeamScores {
public:
    struct Candidate {
        tokenizer::Token token = 0;
        double logProbability = 0;
    };
    using Candidates = std::array<Candidate, plan::kMostBeams>;

    BeamScores(
        const tokenizer::Vocabulary& vocabulary, const tokenizer::Suppression& suppression,
        Picking picking, std::size_t wanted)
        : m_eot(vocabulary.special().eot), m_suppression(suppression), m_picking(picking),
          m_wanted(wanted) {}

    void begin(std::int32_t step, const tokenizer::TimestampHistory& history);
    /// The logits of ids `first` to `first + count - 1`, ascending from call to call.
    void take(const float* logits, std::size_t count, std::size_t first);
    /// The best that are allowed, best first; end of text alone where nothing is.
    std::span<const Candidate> finish(Candidates& out);

private:
    tokenizer::Token m_eot;
    const tokenizer::Suppression& m_suppression;
    Picking m_picking;
    std::size_t m_wanted;
    std::int32_t m_step = 0;
    tokenizer::AllowedTokens m_allowed;
    LogitRank m_text, m_times; ///< without timestamps all is text
    tokenizer::TimestampSum m_timeSum;
};

/// The beam search of one window, as whisper.cpp understands it: each step keeps the likeliest
/// continuations of all beams together; a beam that came to its end keeps its place, so the others
/// go on with one place less; when the last has ended, the best mean log probability of a token
/// wins. A text cut off by the last token stands behind those that ended, and behind both what
/// repeats itself (low entropy of the last tokens). Where whisper.cpp draws each beam's
/// continuations at random, the best are taken here.
///
/// Every beam writes its keys and values into a cache of its own, its slot. rowsOf() tells at which
/// slot the beam finds each position: a beam that splits hands down this list, never the rows.
/// Rows are shared that way at the granularity of one position and nothing is ever copied; the
/// price is that attention looks up a number for each position. A slot is written at the newest
/// position only, so rows that other beams still see are safe when the slot gets a new beam.
///
/// Thread-compatible, and take() of different beams may run at the same time. Allocates when made.
class BeamSearch {
public:
    /// A window has at most `mostTokens` tokens and `positions` text positions. Vocabulary and
    /// suppression must outlive it.
    BeamSearch(
        const tokenizer::Vocabulary& vocabulary, const tokenizer::Suppression& suppression,
        Picking picking, std::int32_t beams, std::int32_t mostTokens, std::size_t positions);

    /// A window begins with one beam that has only the prompt, at slot 0; `frames` frames of 10 ms
    /// of the recording are left.
    void beginWindow(std::int64_t frames, std::size_t promptTokens);
    /// The logits of token `step` follow.
    void beginStep(std::int32_t step);
    /// Logits for a beam; see BeamScores.
    void take(std::size_t beam, const float* logits, std::size_t count, std::size_t first) {
        m_scores[beam].take(logits, count, first);
    }
    /// All logits were taken: beams split, end, or go on. The number that go on, numbered anew with
    /// the best first; 0 when the window is over.
    std::int32_t finishStep();

    std::int32_t beams() const { return static_cast<std::int32_t>(m_count); }
    /// Where this beam's newest keys and values go.
    std::size_t slotOf(std::size_t beam) const { return m_beams[beam].slot; }
    /// The slot of each position that this beam sees.
    const std::uint8_t* rowsOf(std::size_t beam) const {
        return m_rows.data() + m_beams[beam].slot * m_positions;
    }
    tokenizer::Token lastToken(std::size_t beam) const {
        return static_cast<tokenizer::Token>(m_beams[beam].tokens.back());
    }
    /// The best so far; once the window is over, what it says.
    std::span<const std::uint32_t> tokens() const;

private:
    struct Beam {
        std::vector<std::uint32_t> tokens; ///< end of text included
        double sum = 0;                    ///< of log probabilities
        std::size_t slot = 0;              ///< kNoSlot: none yet
        std::size_t parentSlot = 0;
        tokenizer::TimestampHistory history;

        double mean() const { return sum / static_cast<double>(tokens.size()); }
    };
    /// A beam with one more token.
    struct Child {
        std::size_t parent = 0;
        tokenizer::Token token = 0;
        double sum = 0;
    };
    struct Rank {
        bool hasEnded = false;
        bool isVaried = false;
        double mean = 0;

        auto operator<=>(const Rank&) const = default;
    };
    static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);
    using Children = std::array<Child, plan::kMostBeams>;

    std::span<const Child> bestChildren(Children& out);
    void placeChildren(std::span<const Child> children);
    void giveSlots(std::size_t count);
    void end(const Beam& beam);
    bool isDecided() const;
    static Rank rankOf(const Beam& beam, bool hasEnded);

    tokenizer::Token m_eot;
    Picking m_picking;
    std::size_t m_width; ///< beams at the most
    std::size_t m_most;  ///< tokens of a window
    std::size_t m_positions;
    std::int64_t m_frames = 0;
    std::size_t m_position = 0; ///< of the newest token
    std::size_t m_ended = 0;
    std::vector<Beam> m_beams, m_nextBeams;
    std::size_t m_count = 0;
    std::vector<BeamScores> m_scores; ///< by beam
    std::vector<std::uint8_t> m_rows; ///< [slot][position]
    Beam m_best;                      ///< of those that ended
    Rank m_bestRank;
};

} // namespace shardscope::engine
