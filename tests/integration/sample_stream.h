// SPDX-License-Identifier: GPL-3.0-or-later
// The stream of a run without a run: a real plan, simulated, in the frames that an agent sends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim_engine/analyze/summary.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::testing {

struct SampleStream {
    std::shared_ptr<const model::ModelCard> card;
    plan::BoardProfile board;
    std::unique_ptr<plan::Plan> plan;
    trace::Trace trace;
    analyze::Summary summary;

    std::string header;              ///< {"run": ..}
    std::vector<std::string> chunks; ///< Events frames
    std::string text;                ///< {"text": ..}
    std::string result;              ///< {"id": 2, "result": ..}

    /// All frames, in the order of a run.
    std::string whole() const;
    /// Header, text and the first `count` chunks: a run that was cut off.
    std::string cutAfter(std::size_t count) const;
};

/// card:whisper-tiny.en in 48 MiB on an RK3588, four tokens, in chunks of 64 events. `runId` is the
/// id of the request that the result answers; `withBoard` puts the profile into the header.
SampleStream sampleStream(int runId = 2, bool withBoard = true);

inline constexpr const char* kSampleText = " open the window";

} // namespace shardscope::testing
