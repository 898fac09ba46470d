// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "app/replay/validation.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;
using plan::RunConfig;
using Json = nlohmann::ordered_json;

namespace {

using Knobs = std::initializer_list<std::pair<const char*, std::string>>;
constexpr std::size_t kMostConfigs = 10000;
/// Tokens of a run: enough for a steady state; fewer where each takes long.
constexpr const char* kTokens = "32";
constexpr const char* kSlowTokens = "12";

/// Collects configurations that the model can take, each once.
class GridMaker {
public:
    GridMaker(std::shared_ptr<const model::ModelCard> card, const plan::BoardProfile& board)
        : m_card(std::move(card)), m_board(board),
          m_threads(std::to_string(std::max(1, board.fastCores))) {
        m_least = peakWith({{"pin", "none"}});
        m_whole = peakWith({{"pin", "all"}});
    }

    void add(Knobs knobs) {
        RunConfig config;
        (void)plan::setKnob(config, "max_tokens", kTokens);
        (void)plan::setKnob(config, "threads", m_threads);
        for (const auto& [key, value] : knobs)
            if (!plan::setKnob(config, key, value))
                return;
        const auto planned = plan::plan(m_card, config, m_board);
        if (planned && std::holds_alternative<plan::Plan>(*planned) &&
            std::find(m_configs.begin(), m_configs.end(), config) == m_configs.end())
            m_configs.push_back(std::move(config));
    }
    /// A budget between what streaming needs (0) and what everything needs (1).
    std::string budget(double share) const {
        const double bytes = m_least.real() + share * (m_whole - m_least).real();
        return std::to_string(static_cast<std::int64_t>(bytes));
    }
    const std::string& threads() const { return m_threads; }
    std::vector<RunConfig> take() { return std::move(m_configs); }

private:
    Bytes peakWith(Knobs knobs) const {
        RunConfig config;
        for (const auto& [key, value] : knobs)
            (void)plan::setKnob(config, key, value);
        auto planned = plan::planOrError(m_card, config, m_board);
        return planned ? planned->peak : Bytes(0);
    }

    std::shared_ptr<const model::ModelCard> m_card;
    const plan::BoardProfile& m_board;
    std::string m_threads;
    Bytes m_least, m_whole;
    std::vector<RunConfig> m_configs;
};

void addResident(GridMaker& grid) {
    for (const std::string& threads : {std::string("1"), grid.threads()})
        for (const auto& [kv, cross] : {std::pair{"f16", "f16"}, {"q8", "q8"}, {"f16", "shared"}})
            grid.add({{"threads", threads}, {"kv", kv}, {"cross_kv", cross}, {"loader", "pread"}});
    grid.add({{"kv", "f32"}, {"cross_kv", "f32"}, {"loader", "pread"}});
    grid.add({{"kv", "q4"}, {"cross_kv", "q4"}, {"loader", "pread"}});
}

void addStreamed(GridMaker& grid) {
    for (const char* loader : {"pread", "mmap", "populate"})
        for (const char* shard : {"1", "sublayer"})
            grid.add(
                {{"pin", "none"},
                 {"loader", loader},
                 {"decoder_shard", shard},
                 {"encoder_shard", shard}});
    for (const char* loader : {"direct", "uring"})
        for (const char* shard : {"1", "sublayer"})
            grid.add(
                {{"pin", "none"},
                 {"loader", loader},
                 {"decoder_shard", shard},
                 {"max_tokens", kSlowTokens}});
    for (const char* shard : {"tensor", "2", "3"})
        grid.add({{"pin", "none"}, {"loader", "pread"}, {"decoder_shard", shard}});
    for (const char* slot : {"1", "3"})
        grid.add({{"pin", "none"}, {"loader", "pread"}, {"slots", slot}});
    grid.add({{"pin", "none"}, {"loader", "pread"}, {"slots", "1"}, {"threads", "1"}});
    for (const char* loader : {"pread", "mmap"})
        grid.add({{"pin", "none"}, {"loader", loader}, {"threads", "1"}});
}

void addBudgets(GridMaker& grid) {
    for (const double share : {0.1, 0.25, 0.4})
        for (const char* loader : {"pread", "mmap"})
            grid.add({{"budget_bytes", grid.budget(share)}, {"loader", loader}});
    for (const char* policy : {"lru", "mru", "random", "belady"})
        grid.add({{"budget_bytes", grid.budget(0.3)}, {"loader", "pread"}, {"policy", policy}});
}

void addSlowStorage(GridMaker& grid) {
    for (const char* speed : {"200MB/s", "350MB/s", "600MB/s"}) {
        for (const auto& [loader, share] :
             {std::pair{"pread", 0.3}, {"direct", 0.4}, {"uring", 0.2}, {"mmap", 0.35}})
            grid.add(
                {{"budget_bytes", grid.budget(share)},
                 {"loader", loader},
                 {"emulate_read", speed},
                 {"max_tokens", kSlowTokens}});
        grid.add(
            {{"budget_bytes", grid.budget(0.25)},
             {"loader", "pread"},
             {"emulate_read", speed},
             {"threads", "1"},
             {"kv", "q8"},
             {"cross_kv", "q8"},
             {"decoder_shard", "sublayer"},
             {"max_tokens", kSlowTokens}});
    }
}

/// The text of one value of a knob; none where it is no plain value.
std::optional<std::string> textOf(const Json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_integer())
        return std::to_string(value.get<std::int64_t>());
    if (value.is_number_float()) {
        std::string text = value.dump();
        return text;
    }
    if (value.is_boolean())
        return value.get<bool>() ? "on" : "off";
    if (value.is_null())
        return "none";
    return std::nullopt;
}

const plan::Knob* knobOf(std::string key) {
    if (const plan::Knob* knob = plan::findKnob(key))
        return knob;
    std::replace(key.begin(), key.end(), '_', '-');
    return plan::findKnob("--" + key);
}

/// The configurations of one object: each list of values multiplies them.
Result<std::vector<RunConfig>> expand(const Json& object, const std::string& where) {
    std::vector<RunConfig> all(1);
    for (const auto& [key, value] : object.items()) {
        const plan::Knob* knob = knobOf(key);
        if (!knob)
            return Error{
                ErrorCode::Usage, "there is no knob \"" + key.substr(0, 60) + "\"", where,
                "see `shardscope run --help` for the knobs"};
        const Json values = value.is_array() ? value : Json::array({value});
        std::vector<RunConfig> more;
        for (const Json& one : values)
            for (RunConfig config : all) {
                const auto text = textOf(one);
                if (!text)
                    return Error{
                        ErrorCode::BadInput, "\"" + key + "\" has a value of the wrong kind", where,
                        "give " + std::string(knob->values)};
                if (base::Status status = plan::setKnob(config, knob->key, *text); !status)
                    return Error{ErrorCode::Usage, status.error().line(), where, "mend the grid"};
                more.push_back(std::move(config));
                if (more.size() > kMostConfigs)
                    return Error{
                        ErrorCode::BadInput, "more than 10000 configurations", where,
                        "give a smaller grid"};
            }
        all = std::move(more);
    }
    return all;
}

} // namespace

std::vector<RunConfig>
defaultGrid(const std::shared_ptr<const model::ModelCard>& card, const plan::BoardProfile& board) {
    GridMaker grid(card, board);
    addResident(grid);
    addStreamed(grid);
    addBudgets(grid);
    addSlowStorage(grid);
    return grid.take();
}

Result<std::vector<RunConfig>> gridFromJson(const Json& document, const std::string& where) {
    const auto bad = [&](const char* what) {
        return Error{
            ErrorCode::BadInput, what, where,
            "give a list of objects of knobs, such as [{\"loader\": [\"pread\", \"mmap\"]}]"};
    };
    if (!document.is_array() || document.empty())
        return bad("the grid is no list of objects");
    std::vector<RunConfig> all;
    for (const Json& object : document) {
        if (!object.is_object())
            return bad("the grid has an element that is no object");
        auto configs = expand(object, where);
        if (!configs)
            return configs.error();
        for (RunConfig& config : *configs)
            if (std::find(all.begin(), all.end(), config) == all.end())
                all.push_back(std::move(config));
        if (all.size() > kMostConfigs)
            return bad("the grid has more than 10000 configurations");
    }
    return all;
}

} // namespace shardscope::app
