// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <QString>

#include "device_agent/engine/whisper/engine.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/plan/run_config.h"
#include "sim_engine/trace/trace.h"

/// Real runs of the sample model for the tests, without an agent around them.
namespace shardscope::tests {

using Knobs = std::initializer_list<std::pair<const char*, const char*>>;

/// The config that these flags give; aborts the test program where one is impossible.
plan::RunConfig configOf(Knobs knobs);

/// A board of two cores with round rates: what the engine tests plan for.
plan::BoardProfile testBoard();

std::string sampleModel();
std::string sampleClip(const char* name);

struct EngineRun {
    base::Status status;
    std::shared_ptr<const plan::Plan> plan;
    trace::Trace trace;
    std::string text;
    std::vector<std::uint32_t> tokens;
    plan::Loader loader = plan::Loader::Auto;
    std::string loaderReason;
    std::vector<std::string> notes;
    std::optional<tokenizer::DetectedLanguage> language;
};

/// Plans and runs the sample model over a clip; `request` may change the rest of what is asked for.
EngineRun runSample(
    const plan::RunConfig& config, const std::string& clip,
    const std::function<void(engine::RunRequest&)>& request = {});

/// The same with another model file.
EngineRun runModel(
    const std::string& model, const plan::RunConfig& config, const std::string& clip,
    const std::function<void(engine::RunRequest&)>& request = {});

/// Float32 values of a file.
std::vector<float> floatsOf(const std::string& path);

/// Writes a WAV of 40 s: this clip over and over.
void writeLongClip(const std::string& clip, const QString& path);

} // namespace shardscope::tests
