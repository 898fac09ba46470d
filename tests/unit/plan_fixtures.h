// SPDX-License-Identifier: GPL-3.0-or-later
// Cards, boards and configurations that the tests of planner and simulator share.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>

#include <QFile>
#include <QTest>

#include <nlohmann/json.hpp>

#include "sim_engine/model/card_catalog.h"
#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::test {

using Card = std::shared_ptr<const model::ModelCard>;

/// The error's line, for messages of tests that expect none.
template <typename T>
std::string lineOf(const T& result) {
    return result.ok() ? std::string("no error") : result.error().line();
}

/// "sample" is the model in resources, all other names are of the catalog.
inline Card card(const std::string& name) {
    static std::map<std::string, Card> cards;
    Card& known = cards[name];
    if (!known) {
        auto loaded = model::loadCard(
            name == "sample" ? RESOURCES_DIR "/models/sample-whisper-commands.en.bin"
                             : "card:whisper-" + name);
        if (!loaded)
            qFatal("%s", loaded.error().line().c_str());
        known = std::make_shared<const model::ModelCard>(*std::move(loaded));
    }
    return known;
}

/// A profile of resources/boards.
inline plan::BoardProfile board(const char* name = "v851s-512m-nand") {
    QFile file(QStringLiteral(RESOURCES_DIR "/boards/%1.json").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no board %s", name);
    const QByteArray text = file.readAll();
    auto profile = plan::profileFromJson(
        nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false));
    if (!profile)
        qFatal("%s", profile.error().line().c_str());
    return *std::move(profile);
}

/// A plan that is known to fit.
inline plan::Plan planned(const Card& model, const plan::RunConfig& config) {
    auto result = plan::planOrError(model, config, board());
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return *std::move(result);
}

/// Peak with everything resident: the budget above which nothing is streamed.
inline base::Bytes wholePeak(const Card& model, plan::RunConfig config) {
    config.budget.reset();
    config.pin = {plan::PinChoice::Kind::All, {}};
    return planned(model, config).peak;
}

/// The least budget of this configuration, if that much of the weights is to stay.
inline base::Bytes
leastBudget(const Card& model, plan::RunConfig config, plan::PinChoice::Kind pin) {
    config.budget = base::Bytes(1);
    config.pin = {pin, {}};
    const auto result = plan::plan(model, config, board());
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::get<plan::Infeasible>(*result).needed;
}

/// The least budget of this configuration: with nothing pinned.
inline base::Bytes streamingPeak(const Card& model, const plan::RunConfig& config) {
    return leastBudget(model, config, plan::PinChoice::Kind::None);
}

/// Draws configurations; a fixed seed gives the same ones on any machine.
class Draw {
public:
    explicit Draw(std::uint32_t seed) : m_random(seed) {}

    std::int32_t below(std::int32_t n) {
        return static_cast<std::int32_t>(m_random() % static_cast<std::uint32_t>(n));
    }
    template <typename T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[below(static_cast<std::int32_t>(choices.size()))];
    }

    model::Granularity granularity() {
        using Kind = model::Granularity::Kind;
        const Kind kind = of({Kind::Tensor, Kind::Sublayer, Kind::Layers});
        return {kind, kind == Kind::Layers ? of({1, 1, 2, 3, 5, 40}) : 1};
    }

    /// Everything but the budget, which depends on what the rest needs.
    plan::RunConfig config() {
        using plan::Policy;
        plan::RunConfig c;
        c.encoderShard = granularity();
        c.decoderShard = granularity();
        c.vocabShards = of({0, 0, 1, 2, 7, 64});
        c.policy = of(
            {Policy::Pin, Policy::Pin, Policy::Lru, Policy::Mru, Policy::Random, Policy::Belady});
        c.slotCount = of({1, 2, 2, 3, 5, 100});
        c.kv = of({model::KvType::F32, model::KvType::F16, model::KvType::Q8, model::KvType::Q4});
        c.crossKv =
            of({model::KvType::F32, model::KvType::F16, model::KvType::Q8, model::KvType::Q4,
                model::KvType::Shared});
        c.crossKeep = of({1.0, 0.5});
        c.threads = of({0, 1, 2, 8});
        c.maxTokens = of({1, 2, 3, 4, 9, 30});
        c.audioCtx = of({0, 0, 64, 333});
        c.promptTokens = of({0, 0, 1, 9});
        if (below(3) == 0)
            c.usefulRead = base::Bytes(1);
        return c;
    }

    /// The same, with windows that are decoded together, beams, and a language that is found out.
    plan::RunConfig batchConfig() {
        plan::RunConfig c = config();
        c.batch = of({1, 2, 2, 3, 8});
        c.timestamps = below(2) == 0;
        if (below(3) == 0)
            c.language = "auto";
        c.beam = of({1, 1, 2, 5, 8});
        return c;
    }

    /// A budget between the least and a little more than the whole, and a pin choice.
    void budget(const Card& model, plan::RunConfig& c) {
        using Kind = plan::PinChoice::Kind;
        const std::int64_t least = streamingPeak(model, c).value;
        const std::int64_t whole = std::max(wholePeak(model, c).value, least);
        if (below(5) > 0)
            c.budget = base::Bytes(least + (whole - least) * below(23) / 20);
        c.pin.kind = of({Kind::Auto, Kind::Auto, Kind::None, Kind::Bytes});
        if (c.pin.kind == Kind::Bytes)
            c.pin.bytes = base::Bytes((whole - least) * below(23) / 20);
    }

private:
    std::mt19937 m_random;
};

} // namespace shardscope::test
