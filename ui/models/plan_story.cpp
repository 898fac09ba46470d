// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/plan_story.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <map>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"
#include "ui/models/figures.h"

namespace shardscope::ui {
namespace {

using plan::Reason;
using plan::Step;
using plan::StepKind;

QString tr(const char* text) {
    return QCoreApplication::translate("plan", text);
}

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

/// "22MiB" for 23068672: as one would write it behind a flag.
QString flagValue(const std::string& value) {
    const auto bytes = base::parseInteger(value);
    constexpr std::int64_t kMiB = 1 << 20, kMB = 1'000'000;
    if (bytes && *bytes >= kMiB && *bytes % kMiB == 0)
        return QStringLiteral("%1MiB").arg(*bytes / kMiB);
    if (bytes && *bytes >= kMB && *bytes % kMB == 0)
        return QStringLiteral("%1MB").arg(*bytes / kMB);
    return text(value);
}

std::vector<PlanFact>
inputsOf(const plan::Plan& plan, const plan::RunConfig& asked, const plan::BoardProfile& board) {
    QStringList changed;
    const plan::RunConfig defaults;
    for (const plan::Knob& knob : plan::knobs())
        if (const std::string value = knob.print(asked); value != knob.print(defaults))
            changed.append(text(knob.flag) + QLatin1Char(' ') + flagValue(value));
    return {
        {tr("Model"), text(plan.card->name)},
        {tr("Weights"), bytesText(plan.card->weightBytes().real())},
        {tr("Board"), text(board.name)},
        {tr("Settings"), changed.isEmpty() ? tr("all at their defaults") : changed.join(u'\n')}};
}

std::vector<PlanFact> settledOf(const plan::Plan& plan, const plan::RunConfig& asked) {
    std::vector<PlanFact> facts;
    const auto add = [&facts](const char* name, const QString& value) {
        facts.push_back({tr(name), value});
    };
    if (asked.threads == 0)
        add("Threads", tr("%1: the fast cores of the board").arg(plan.config.threads));
    const auto vocabulary =
        std::count_if(plan.shards.begin(), plan.shards.end(), [](const plan::Shard& shard) {
            return shard.key.stack == model::ShardKey::Stack::Vocabulary;
        });
    if (asked.vocabShards == 0 && vocabulary > 0)
        add("Vocabulary",
            tr("in %1 parts, each about as large as the largest decoder shard").arg(vocabulary));
    if (asked.pin.kind == plan::PinChoice::Kind::Auto)
        add("Pinned",
            asked.budget
                ? tr("%1: all that the budget leaves").arg(bytesText(plan.pinnedBytes.real()))
                : tr("%1: no budget, so all that is used again")
                      .arg(bytesText(plan.pinnedBytes.real())));
    add("A token reads", plan.streamedPerToken.value == 0
                             ? tr("nothing: it fits, so nothing is streamed")
                             : bytesText(plan.streamedPerToken.real()));
    return facts;
}

/// Blocks that live at different times share places, so regions add up to more than the peak.
std::vector<PlanFact> memoryOf(const plan::Plan& plan) {
    std::array<std::int64_t, model::kRegionCount> bytes{};
    for (const plan::Block& block : plan.blocks)
        bytes[static_cast<std::size_t>(block.region)] += block.bytes.value;
    std::vector<PlanFact> facts{{tr("Peak"), bytesText(plan.peak.real())}};
    if (plan.config.budget)
        facts.back().value +=
            tr(", %1 below the budget").arg(bytesText((*plan.config.budget - plan.peak).real()));
    facts.push_back({tr("Self KV"), bytesText(plan.selfKvBytes.real())});
    facts.push_back({tr("Cross KV"), bytesText(plan.crossKvBytes.real())});
    const auto add = [&](model::Region region) {
        if (const auto held = bytes[static_cast<std::size_t>(region)]; held > 0)
            facts.push_back({text(model::regionName(region)), bytesText(double(held))});
    };
    add(model::Region::PinnedWeights);
    add(model::Region::StreamSlots);
    return facts;
}

/// Each shard under the reason of its first load.
std::vector<PlanDecision> loadsOf(const plan::Plan& plan) {
    std::map<std::uint32_t, Reason> first;
    const auto take = [&first](const std::vector<Step>& steps) {
        for (const Step& step : steps)
            if (step.kind == StepKind::Load)
                first.emplace(step.id, step.reason);
    };
    take(plan.window);
    for (const auto& cycle : plan.cycles)
        take(cycle);
    struct Group {
        std::int64_t bytes = 0;
        QStringList names;
    };
    std::map<Reason, Group> groups;
    for (const auto& [id, reason] : first) {
        const plan::Shard& shard = plan.shards[id];
        Group& group = groups[reason];
        group.bytes += shard.bytes.value;
        group.names.append(
            QStringLiteral("%1\t%2").arg(text(shard.name), bytesText(shard.bytes.real())));
    }
    std::vector<PlanDecision> decisions;
    for (const auto& [reason, group] : groups)
        decisions.push_back(
            {text(plan::reasonText(reason)),
             (group.names.size() == 1 ? tr("1 shard, %1")
                                      : tr("%1 shards, %2").arg(group.names.size()))
                 .arg(bytesText(double(group.bytes))),
             group.names});
    return decisions;
}

std::vector<PlanDecision> evictionsOf(const plan::Plan& plan) {
    if (plan.cycles.empty())
        return {};
    // The cycle that most tokens take.
    std::vector<std::size_t> uses(plan.cycles.size());
    for (const std::uint32_t cycle : plan.cycleOfStep)
        ++uses[cycle];
    const auto usual =
        static_cast<std::size_t>(std::max_element(uses.begin(), uses.end()) - uses.begin());
    std::map<Reason, QStringList> groups;
    for (const Step& step : plan.cycles[usual])
        if (step.kind == StepKind::Evict)
            groups[step.reason].append(text(plan.shards[step.id].name));
    std::vector<PlanDecision> decisions;
    for (auto& [reason, names] : groups)
        decisions.push_back(
            {text(plan::reasonText(reason)),
             names.size() == 1 ? tr("once a token") : tr("%1 times a token").arg(names.size()),
             names});
    return decisions;
}

} // namespace

PlanStory
planStory(const plan::Plan& plan, const plan::RunConfig& asked, const plan::BoardProfile& board) {
    return {text(plan.hashText()),  inputsOf(plan, asked, board),
            settledOf(plan, asked), memoryOf(plan),
            loadsOf(plan),          evictionsOf(plan)};
}

} // namespace shardscope::ui
