// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "device_agent/engine/audio/mel.h"
#include "device_agent/engine/audio/wav_reader.h"
#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/thread_pool.h"
#include "device_agent/engine/tokenizer/language_vote.h"
#include "device_agent/engine/tokenizer/suppression.h"
#include "device_agent/engine/tokenizer/vocabulary.h"
#include "device_agent/engine/whisper/beam_search.h"
#include "device_agent/engine/whisper/dump_file.h"
#include "device_agent/engine/whisper/engine.h"
#include "device_agent/engine/whisper/op_memory.h"
#include "device_agent/engine/whisper/token_pick.h"
#include "sim_engine/model/whisper_family.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/walk.h"

namespace shardscope::engine {

/// All that the ops of a run work on. The members before `tokens` do not change while it runs.
struct RunState {
    RunState(
        const plan::Plan& runPlan, const RunRequest& request, const Arena& arena,
        audio::WavReader reader, audio::MelFrontEnd frontEnd, tokenizer::Vocabulary words);

    const plan::Plan& plan;
    const RunRequest& request;
    model::WhisperShape shape;
    std::size_t width;          ///< d
    std::size_t positions;      ///< of the encoder
    std::size_t crossPositions; ///< that cross-attention sees
    std::size_t textPositions;  ///< for which the self KV cache has room
    audio::WavReader wav;
    audio::MelFrontEnd mel;
    float melMaximum = 0; ///< over the recording; see MelFrontEnd::prepare
    tokenizer::Vocabulary vocabulary;
    tokenizer::Suppression suppression;
    std::vector<tokenizer::Token> prompt;
    OpMemory memory;
    kernels::ThreadPool pool;

    std::vector<tokenizer::Token> inputs; ///< tokens of the pass under way, by row
    std::vector<TokenPick> picks;         ///< by place in the batch; none in a beam search
    std::vector<BeamSearch> searches;     ///< by place in the batch; none without one
    tokenizer::LanguageVote vote;         ///< of the pass that settles the prompt
    std::optional<tokenizer::DetectedLanguage> language; ///< once that pass is over
    base::Status status;                                 ///< the first error of an op
    DumpFile dumpMel, dumpEncoder, dumpLogits;

    float* floats(model::WhisperBuffer b) const { return memory.floats(b); }
    /// Frames of 10 ms from the begin of a window to the end of the recording.
    std::int64_t framesFrom(std::int32_t window) const {
        return audio::MelFrontEnd::lengthFrames(wav.sampleCount()) -
               std::int64_t{window} * audio::kWindowFrames;
    }
};

/// One op of encode or cross.
void computeEncodeOp(RunState& run, base::OpId id, const plan::OpContext& context);

/// One op of prefill or decode.
void computeDecodeOp(RunState& run, base::OpId id, const plan::OpContext& context);

/// One of the self or cross caches that stand in a buffer one after the other, by its number: a
/// cross cache for each place in the batch, self caches for each place as many as there are beams.
kernels::KvCache
cacheOf(const RunState& run, base::BufferId buffer, bool cross, std::size_t number);

} // namespace shardscope::engine
