// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a Whisper model as its plan says, from a file of weights and a file of audio.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_agent/engine/tokenizer/language_vote.h"
#include "device_agent/engine/tokenizer/vocabulary.h"
#include "device_agent/engine/weights/run_clock.h"
#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/event_ring.h"

namespace shardscope::engine {

/// What a run is asked for beside its plan.
struct RunRequest {
    std::string modelPath;
    std::string audioPath;
    std::vector<tokenizer::Token> promptIds; ///< empty: the usual prompt
    bool isCold = false;                     ///< begins with nothing of the model in the page cache
    bool rawGreedy = false;  ///< plain argmax, nothing suppressed, no end before the last token
    std::string dumpMel;     ///< file for n_mels x frames f32; empty: none
    std::string dumpEncoder; ///< file for positions x d f32
    std::string dumpLogits;  ///< file for steps x vocabulary f32
    const std::atomic<bool>* stop = nullptr; ///< set by another thread to end the run
    std::optional<base::Bytes> freeRam;      ///< that the page cache may use; none: not known
    bool isTraced = true;                    ///< false: no events, to measure what they cost
};

/// Where the events of a run go; one ring a thread.
struct RunRings {
    trace::EventRing& compute;
    trace::EventRing& io;
};

/// A run that is ready to start: files opened and checked, arena reserved, threads waiting.
/// Thread-compatible; run() is called once.
class Engine {
public:
    /// Usage where the engine cannot do what the config asks, BadInput for the files.
    static base::Result<std::unique_ptr<Engine>>
    open(const plan::Plan& plan, const RunRequest& request, RunRings rings);
    virtual ~Engine() = default;

    /// Runs to the end, until stopped, or until an error. Allocates nothing in the token loop.
    /// Times of events are those of `clock`.
    virtual base::Status run(const RunClock& clock) = 0;

    virtual const tokenizer::Vocabulary& vocabulary() const = 0;
    /// The loader in use, and why it is this one.
    virtual plan::Loader loader() const = 0;
    virtual const std::string& loaderReason() const = 0;
    /// What went otherwise than asked, each with its reason: fall-backs, the use of the page cache.
    virtual const std::vector<std::string>& notes() const = 0;
    virtual std::int32_t windows() const = 0;
    /// Length of the recording.
    virtual std::int64_t audioMs() const = 0;
    /// What `--language auto` found; none before that, and with a language that was given.
    virtual std::optional<tokenizer::DetectedLanguage> language() const = 0;
};

/// The number of prompt tokens that a plan must be made for, 0 for the usual prompt. Usage where an
/// id is none of the model's tokens, or the language of a given prompt is to be found out.
base::Result<std::int32_t> promptTokensFor(
    const model::ModelCard& card, const plan::RunConfig& config,
    const std::vector<tokenizer::Token>& promptIds);

/// What the engine cannot do, before anything is planned: a Usage error naming the knob.
base::Status checkSupported(const model::ModelCard& card, const plan::RunConfig& config);

} // namespace shardscope::engine
