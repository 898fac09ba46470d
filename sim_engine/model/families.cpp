// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/graph.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::model {

base::Result<Graph> buildGraph(const ModelCard& card, const GraphOptions& options) {
    if (card.family == kWhisperFamily)
        return buildWhisperGraph(card, options);
    return base::Error{
        base::ErrorCode::BadInput, "unknown model family \"" + card.family + "\"", card.name,
        "Whisper files in ggml format are supported"};
}

} // namespace shardscope::model
