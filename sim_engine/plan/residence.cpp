// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/residence.h"

#include <algorithm>
#include <utility>

namespace shardscope::plan {
namespace {

using base::Bytes;
using base::ShardId;
using Stack = model::ShardKey::Stack;

/// Which member of the van der Corput sequence 0, 1/2, 1/4, 3/4, 1/8, ... is the first one that
/// lies in [first, last) of `whole`.
std::uint64_t placeInSequence(Bytes first, Bytes last, Bytes whole) {
    if (first.value == 0)
        return 0;
    std::uint64_t place = 0;
    double low = 0, high = whole.real();
    for (std::uint64_t bit = 1;; bit *= 2) {
        const double middle = (low + high) / 2;
        if (first.real() <= middle && middle < last.real())
            return place + bit;
        if (middle < first.real()) {
            place += bit;
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The order in which decoder shards are pinned. All are used once for each token, so a pinned byte
/// saves the time of its read whichever shard it is of; but each prefix of the order is spread over
/// the bytes of the pass, so that what still streams is spread too and its reads hide behind the
/// compute of what is pinned. A longer prefix holds every shorter one: a larger budget never
/// unpins.
std::vector<ShardId> pinOrder(const std::vector<ShardId>& pass, const std::vector<Shard>& shards) {
    Bytes whole;
    for (const ShardId id : pass)
        whole += shards[id.index()].bytes;
    std::vector<std::pair<std::uint64_t, ShardId>> placed;
    Bytes first;
    for (const ShardId id : pass) {
        const Bytes last = first + shards[id.index()].bytes;
        placed.emplace_back(placeInSequence(first, last, whole), id);
        first = last;
    }
    std::sort(placed.begin(), placed.end());
    std::vector<ShardId> order;
    for (const auto& [place, id] : placed)
        order.push_back(id);
    return order;
}

std::int32_t slotsFor(std::int32_t wanted, const std::vector<ShardId>& streamed) {
    return std::min(wanted, static_cast<std::int32_t>(streamed.size()));
}

/// Tries residences for one model under one config.
class Chooser {
public:
    Chooser(const model::Graph& graph, const std::vector<Shard>& shards, const RunConfig& config)
        : m_graph(graph), m_shards(shards), m_config(config) {
        for (std::size_t i = 0; i < shards.size(); ++i) {
            const Stack stack = shards[i].key.stack;
            if (stack == Stack::Rows)
                m_rows.push_back(ShardId(i));
            else if (stack == Stack::Encoder)
                m_encode.push_back(ShardId(i));
            else if (stack == Stack::Cross)
                m_cross.push_back(ShardId(i));
            else
                m_decode.push_back(ShardId(i));
        }
    }

    std::variant<Fitted, Bytes> choose() {
        using Kind = PinChoice::Kind;
        const Kind pin = m_config.pin.kind;
        if (pin == Kind::Auto || pin == Kind::All) {
            Fitted all = fit(everything());
            if (fits(all) || pin == Kind::All)
                return result(std::move(all));
        }
        Fitted least = fit(streaming());
        if (!fits(least))
            return least.layout.peak;
        if (pin == Kind::None)
            return least;
        return m_config.policy == Policy::Pin ? pinned() : cached(std::move(least));
    }

    Residence streaming() const {
        Residence r;
        r.encodeStreamed = m_encode;
        r.crossStreamed = m_cross;
        r.decodeStreamed = m_decode;
        r.encodeSlots = slotsFor(m_config.slotCount, m_encode);
        r.crossSlots = slotsFor(m_config.slotCount, m_cross);
        r.decodeSlots = slotsFor(m_config.slotCount, m_decode);
        return r;
    }

    Fitted fit(Residence residence) const {
        Layout layout = layOut(m_graph, m_shards, residence);
        return {std::move(residence), std::move(layout)};
    }

private:
    bool fits(const Fitted& f) const {
        return !m_config.budget || f.layout.peak <= *m_config.budget;
    }
    std::variant<Fitted, Bytes> result(Fitted f) const {
        if (fits(f))
            return f;
        return f.layout.peak;
    }

    Residence everything() const {
        Residence r;
        for (const auto* part : {&m_encode, &m_cross, &m_decode, &m_rows})
            r.forRun.insert(r.forRun.end(), part->begin(), part->end());
        return r;
    }

    /// `count` shards of the order stay while tokens are decoded; those `forRun` of them that are
    /// used first stay longer: they are read first, so all reads come in the order of use.
    Residence
    withPins(const std::vector<ShardId>& order, std::size_t count, std::size_t forRun) const {
        Residence r = streaming();
        std::vector<bool> pinned(m_shards.size());
        std::vector<ShardId> pins = order;
        pins.resize(count);
        std::sort(pins.begin(), pins.end()); // shards are numbered in the order of their first use
        for (std::size_t i = 0; i < count; ++i) {
            pinned[pins[i].index()] = true;
            (i < forRun ? r.forRun : r.forTokens).push_back(pins[i]);
        }
        std::erase_if(r.decodeStreamed, [&](ShardId id) { return pinned[id.index()]; });
        r.decodeSlots = slotsFor(m_config.slotCount, r.decodeStreamed);
        return r;
    }

    /// The longest prefix of the pin order that fits, and of that as much as the encoder leaves
    /// room for stays for the whole run: it is then read while the encoder computes, and once only.
    Fitted pinned() const {
        const std::vector<ShardId> order = pinOrder(m_decode, m_shards);
        std::size_t count = order.size();
        if (m_config.pin.kind == PinChoice::Kind::Bytes) {
            Bytes sum;
            count = 0;
            while (count < order.size() &&
                   sum + m_shards[order[count].index()].bytes <= m_config.pin.bytes)
                sum += m_shards[order[count++].index()].bytes;
        }
        count = longest(count, [&](std::size_t n) { return fits(fit(withPins(order, n, 0))); });
        const std::size_t forRun =
            longest(count, [&](std::size_t n) { return fits(fit(withPins(order, count, n))); });
        return fit(withPins(order, count, forRun));
    }

    /// A cache of as many slots as the budget (or --pin BYTES) leaves.
    Fitted cached(Fitted least) const {
        Bytes slot;
        for (const ShardId id : m_decode)
            slot = std::max(slot, m_shards[id.index()].held);
        std::size_t most = m_decode.size();
        if (m_config.pin.kind == PinChoice::Kind::Bytes)
            most = std::min(most, m_config.pin.bytes.size() / slot.size());
        const auto with = [&](std::size_t n) {
            Residence r = streaming();
            r.decodeSlots = std::max(r.decodeSlots, static_cast<std::int32_t>(n));
            return r;
        };
        const std::size_t n = longest(most, [&](std::size_t k) { return fits(fit(with(k))); });
        return n == 0 ? std::move(least) : fit(with(n));
    }

    /// The largest n <= most for which `ok` holds, given that it holds for 0 and for every smaller
    /// one too.
    template <typename Ok>
    static std::size_t longest(std::size_t most, Ok ok) {
        if (most == 0 || ok(most))
            return most;
        std::size_t low = 0, high = most;
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (ok(middle) ? low : high) = middle;
        }
        return low;
    }

    const model::Graph& m_graph;
    const std::vector<Shard>& m_shards;
    const RunConfig& m_config;
    std::vector<ShardId> m_encode, m_cross, m_decode, m_rows;
};

} // namespace

base::Bytes
leastPeak(const model::Graph& graph, const std::vector<Shard>& shards, std::int32_t slots) {
    RunConfig config;
    config.slotCount = slots;
    const Chooser chooser(graph, shards, config);
    return chooser.fit(chooser.streaming()).layout.peak;
}

std::variant<Fitted, base::Bytes> chooseResidence(
    const model::Graph& graph, const std::vector<Shard>& shards, const RunConfig& config) {
    return Chooser(graph, shards, config).choose();
}

} // namespace shardscope::plan
