// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/arena.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace shardscope::plan {
namespace {

using base::Bytes;

struct Taken {
    Bytes begin, end;
    const Block* block;
};

bool liveTogether(const Block& a, const Block& b) {
    auto x = a.lives.begin(), y = b.lives.begin();
    while (x != a.lives.end() && y != b.lives.end()) {
        if (x->first <= y->last && y->first <= x->last)
            return true;
        ++(x->last < y->last ? x : y);
    }
    return false;
}

/// The lowest offset at which the block meets none of those placed before it; `placed` is sorted by
/// begin.
Bytes lowestFree(const Block& block, const std::vector<Taken>& placed) {
    Bytes at;
    for (const Taken& t : placed) {
        if (!liveTogether(block, *t.block))
            continue;
        if (t.begin >= at + block.bytes)
            break;
        at = std::max(at, t.end);
    }
    return at;
}

} // namespace

base::Bytes placeBlocks(std::span<Block> blocks, std::int32_t lastTick) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const Block &x = blocks[a], &y = blocks[b];
        const bool xLast = x.lives.back().last == lastTick, yLast = y.lives.back().last == lastTick;
        if (xLast != yLast)
            return xLast;
        if (xLast && x.lives.front().first != y.lives.front().first)
            return x.lives.front().first < y.lives.front().first;
        return x.bytes > y.bytes;
    });
    std::vector<Taken> placed;
    placed.reserve(blocks.size());
    Bytes peak;
    for (const std::size_t i : order) {
        Block& block = blocks[i];
        block.bytes = base::alignUp(block.bytes, kPage);
        block.offset = lowestFree(block, placed);
        const Taken taken{block.offset, block.offset + block.bytes, &block};
        placed.insert(
            std::upper_bound(
                placed.begin(), placed.end(), taken,
                [](auto& a, auto& b) { return a.begin < b.begin; }),
            taken);
        peak = std::max(peak, taken.end);
    }
    return peak;
}

} // namespace shardscope::plan
