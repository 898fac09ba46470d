// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/plan.h"

#include <algorithm>
#include <array>

#include "sim_engine/base/format.h"

namespace shardscope::plan {

std::string_view reasonText(Reason reason) {
    constexpr std::array<std::string_view, kReasonCount> kTexts{
        "pinned: stays from its first use to the end of the run",
        "pinned: takes the place that the encoder left and stays for the window",
        "streamed: does not fit beside what is pinned, read ahead into a slot",
        "missed: the cache had let it go before it was needed again",
        "evicted: its slot is the next to be filled",
        "evicted by LRU: the least recently used",
        "evicted by MRU: the most recently used",
        "evicted by the random policy",
        "evicted by Belady's rule: its next use is the farthest",
        "evicted: the place of this phase goes to the next"};
    const auto i = static_cast<std::size_t>(reason);
    return i < kTexts.size() ? kTexts[i] : "a reason of a newer version";
}

base::Error Infeasible::error() const {
    return {
        base::ErrorCode::DoesNotFit,
        base::formatted(
            "the plan needs %s, the budget allows %s", base::bytesText(needed).c_str(),
            base::bytesText(allowed).c_str()),
        "--budget", nearest};
}

std::string Plan::hashText() const {
    return base::formatted("%016llx", static_cast<unsigned long long>(hash));
}

base::Bytes Plan::weightBytes(const model::Op& op) const {
    base::Bytes sum;
    for (const model::WeightUse& use : op.weights)
        sum += card->tensor(use.tensor).bytesPerRow() * use.rowCount;
    return sum;
}

base::Bytes Plan::rowReadBytes(base::TensorId tensor) const {
    return rowsResident[tensor.index()] ? base::Bytes(0) : card->tensor(tensor).bytesPerRow();
}

double copiedBytes(
    std::span<const CachedFile> files, const std::string& model, Loader loader,
    std::span<const Extent> extents) {
    const auto file = std::find_if(
        files.begin(), files.end(), [&](const CachedFile& f) { return f.model == model; });
    const bool isKnown = loader == Loader::Pread && file != files.end();
    double sum = 0;
    for (const Extent& e : extents)
        sum += isKnown ? file->weighted(e.fileOffset, e.bytes) : e.bytes.real();
    return sum;
}

base::Result<Plan> planOrError(
    std::shared_ptr<const model::ModelCard> card, const RunConfig& config,
    const BoardProfile& board) {
    auto planned = plan(std::move(card), config, board);
    if (!planned)
        return planned.error();
    if (const auto* why = std::get_if<Infeasible>(&*planned))
        return why->error();
    return std::get<Plan>(*std::move(planned));
}

trace::Legend legendOf(const Plan& plan) {
    trace::Legend legend;
    legend.planHash = plan.hashText();
    legend.peak = plan.peak;
    legend.budget = plan.config.budget.value_or(base::Bytes(0));
    for (std::size_t i = 0; i < plan.graph->ops.size(); ++i) {
        const model::Op& op = plan.graph->ops[i];
        const bool hasLayer = op.key.stack != model::ShardKey::Stack::Vocabulary;
        legend.ops.push_back(
            {op.name, op.kind, hasLayer ? op.key.layer : -1, plan.shardOfOp[i].value});
    }
    for (const Shard& s : plan.shards)
        legend.shards.push_back({s.name, s.bytes, s.held, s.pinned});
    for (const model::Buffer& b : plan.graph->buffers)
        legend.buffers.push_back({b.name, b.region, b.bytes});
    return legend;
}

} // namespace shardscope::plan
