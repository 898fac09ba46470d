// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/sim/read_costs.h"

#include <algorithm>

namespace shardscope::sim {

using base::Bytes;
using plan::Loader;
using plan::ReadPath;

namespace {

constexpr double kNano = 1e9;
/// Of the uring loader: what it hands to the kernel at a time, and how much of it is under way.
constexpr Bytes kPiece = base::kibibytes(512);
constexpr std::int32_t kDepth = 8;
/// Rows past the page cache come in windows of this size.
constexpr Bytes kRowWindow = base::kibibytes(16);

bool isPastCache(Loader loader) {
    return loader == Loader::Direct || loader == Loader::Uring;
}

} // namespace

CacheUse cacheUseOf(const plan::Plan& plan, const plan::BoardProfile& board) {
    Bytes streamed, all;
    for (const plan::Shard& shard : plan.shards) {
        all += shard.bytes;
        streamed += shard.pinned ? Bytes(0) : shard.bytes;
    }
    const bool isLimited = board.machine.cgroupLimit.value > 0;
    const Bytes ram =
        isLimited ? std::min(board.machine.cgroupLimit, board.ramTotal) : board.ramTotal;
    const Bytes taken = isLimited ? plan.peak : plan.peak + board.ramReserved;
    const Bytes room(std::max<std::int64_t>(0, (ram - taken).value) / 2);
    return all <= room ? CacheUse::Keep : streamed <= room ? CacheUse::Streamed : CacheUse::Nothing;
}

Loader loaderOf(const plan::Plan& plan, bool isWarm) {
    if (plan.config.loader != Loader::Auto)
        return plan.config.loader;
    const bool stays = std::all_of(
        plan.shards.begin(), plan.shards.end(), [](const plan::Shard& s) { return s.pinned; });
    return stays && isWarm ? Loader::Pread : Loader::Uring;
}

ReadCosts::ReadCosts(const plan::Plan& plan, const plan::BoardProfile& board, bool isWarm)
    : m_plan(plan), m_board(board), m_isWarm(isWarm), m_cache(cacheUseOf(plan, board)),
      m_loader(loaderOf(plan, isWarm)),
      m_measured(board.measured.find(m_loader, plan.config.threads)),
      m_limit(plan.config.emulateRead ? plan.config.emulateRead->real() : 0) {
    m_first.reserve(plan.shards.size());
    m_later.reserve(plan.shards.size());
    for (const plan::Shard& shard : plan.shards) {
        const double device = m_limit > 0 ? shard.bytes.real() / m_limit * kNano : 0;
        m_first.push_back({activeNs(shard, true), device});
        m_later.push_back({activeNs(shard, false), device});
    }
    chooseShares();
}

bool ReadCosts::isCached(const plan::Shard& shard, bool isFirst) const {
    const bool stays =
        m_cache == CacheUse::Keep || (m_cache == CacheUse::Streamed && !shard.pinned);
    return stays && (m_isWarm || !isFirst);
}

double ReadCosts::activeNs(const plan::Shard& shard, bool isFirst) const {
    const auto extents = static_cast<double>(shard.extents.size());
    const bool cached = isCached(shard, isFirst);
    if (m_measured && (cached || isPastCache(m_loader)))
        return extents * m_measured->requestNs +
               copiedBytes(m_board.measured.files, m_plan.card->name, m_loader, shard.extents) /
                   m_measured->bytesPerSecond * kNano;
    double time = 0;
    switch (m_loader) {
    case Loader::Mmap: // a call; the pages come in while ops touch them
        return extents * m_board.pageFaultNs;
    case Loader::Populate:
        return cached ? shard.held.real() / plan::kPage * m_board.pageFaultNs
                      : shard.bytes.real() /
                            m_board.populatedBytesPerSecond.value_or(m_board.readBytesPerSecond) *
                            kNano;
    case Loader::Uring:
        return extents * m_board.requestNs(ReadPath::Direct, Bytes(plan::kPage)) +
               shard.bytes.real() / m_board.readRate(ReadPath::Direct, kPiece, kDepth) * kNano;
    case Loader::Auto:
    case Loader::Pread:
    case Loader::Direct:
        break;
    }
    const ReadPath path = m_loader == Loader::Direct ? ReadPath::Direct
                          : cached                   ? ReadPath::Cached
                                                     : ReadPath::Buffered;
    for (const plan::Extent& e : shard.extents)
        time += m_board.requestNs(path, e.bytes);
    return time;
}

double ReadCosts::touchNsPerByte(bool isFirst) const {
    if (m_loader != Loader::Mmap)
        return 0;
    // Each thread touches cached pages of its own part; a device is shared by all.
    if (m_cache != CacheUse::Nothing && (m_isWarm || !isFirst)) {
        double alone = m_measured ? m_measured->touchNsPerByte : 0;
        if (alone <= 0)
            alone = std::max(
                0.0, m_board.minorFaultNs.value_or(m_board.pageFaultNs) / plan::kPage -
                         releaseNsPerByte());
        return alone / m_board.computeSpeedUp(m_plan.config.threads);
    }
    return kNano / m_board.mappedBytesPerSecond.value_or(m_board.readBytesPerSecond);
}

double ReadCosts::rowNs(Bytes row) const {
    double time = m_board.measured.rowNs;
    if (time <= 0)
        time =
            isPastCache(m_loader)
                ? m_board.requestNs(ReadPath::Direct, kRowWindow)
                : m_board.requestNs(
                      m_isWarm && m_cache == CacheUse::Keep ? ReadPath::Cached : ReadPath::Buffered,
                      row);
    return std::max(time, m_limit > 0 ? row.real() / m_limit * kNano : 0);
}

/// T = max + overlap * min: while both are at work, each keeps 1 / (1 + overlap) of its speed.
void ReadCosts::chooseShares() {
    if (m_measured) {
        if (m_measured->freshBytesPerSecond > 0)
            m_freshNsPerByte = std::max(
                0.0, kNano / m_measured->freshBytesPerSecond - kNano / m_measured->bytesPerSecond);
        m_opShare = 1 - m_measured->computeLoss;
        m_readShare = 1 - m_measured->readLoss;
        return;
    }
    const bool copies = !isPastCache(m_loader) && m_cache != CacheUse::Nothing && m_isWarm;
    const double lost = m_board.lostWhileReading(
        copies                  ? ReadPath::Cached
        : isPastCache(m_loader) ? ReadPath::Direct
                                : ReadPath::Buffered,
        false);
    m_opShare = m_readShare = 1 / (1 + lost);
}

} // namespace shardscope::sim
