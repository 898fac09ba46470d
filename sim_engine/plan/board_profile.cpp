// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/board_profile.h"

#include <algorithm>
#include <cmath>

namespace shardscope::plan {
namespace {

using base::Bytes;
using model::DType;
using model::OpKind;

constexpr double kNano = 1e9;

OpKind kindOf(KernelClass kernel) {
    switch (kernel) {
    case KernelClass::Mel:
        return OpKind::Mel;
    case KernelClass::Conv:
    case KernelClass::MatMul:
    case KernelClass::DeepMatMul:
        return OpKind::MatMul;
    case KernelClass::MatVec:
    case KernelClass::RowsMatVec:
        return OpKind::MatVec;
    case KernelClass::EncodeAttention:
    case KernelClass::DecodeAttention:
    case KernelClass::SharedAttention:
        return OpKind::Attention;
    case KernelClass::Vector:
        return OpKind::Vector;
    case KernelClass::RowGather:
        break;
    }
    return OpKind::RowGather;
}

/// What the rates by kind of op say of a kernel.
double classicRate(const BoardProfile& board, KernelKey key) {
    const bool isToken =
        key.kernel == KernelClass::DecodeAttention || key.kernel == KernelClass::SharedAttention;
    const bool isNarrow =
        key.kernel == KernelClass::EncodeAttention ? false : isToken || key.dtype != DType::F32;
    return board.opsPerSecond[static_cast<std::size_t>(kindOf(key.kernel))][isNarrow ? 1 : 0];
}

/// The measured point of this path whose request is the largest one not above `bytes`, at the
/// depth that fits best; the smallest request where all are larger. Null where there is none.
const ReadPoint*
pointBelow(const std::vector<ReadPoint>& reads, ReadPath path, Bytes bytes, std::int32_t depth) {
    const ReadPoint* best = nullptr;
    const auto isBetter = [&](const ReadPoint& p) {
        if (!best)
            return true;
        if (p.bytes != best->bytes) {
            const bool fits = p.bytes <= bytes, bestFits = best->bytes <= bytes;
            return fits != bestFits ? fits : fits == (p.bytes > best->bytes);
        }
        const bool fits = p.depth <= depth, bestFits = best->depth <= depth;
        return fits != bestFits ? fits : fits == (p.depth > best->depth);
    };
    for (const ReadPoint& p : reads)
        if (p.path == path && isBetter(p))
            best = &p;
    return best;
}

const ReadPoint* pointAbove(const std::vector<ReadPoint>& reads, ReadPath path, Bytes bytes) {
    const ReadPoint* best = nullptr;
    for (const ReadPoint& p : reads)
        if (p.path == path && p.depth == 1 && p.bytes > bytes && (!best || p.bytes < best->bytes))
            best = &p;
    return best;
}

/// Points of a path by latency and rate; several requests under way share the rate.
void addPoints(BoardProfile& board, ReadPath path, double latencyNs, double rate) {
    for (const std::int64_t bytes : {4096, 65536, 1048576})
        for (const std::int32_t depth : {1, 8}) {
            const double move = static_cast<double>(bytes) / rate * kNano;
            const double each = std::max(latencyNs + move, depth * move);
            board.reads.push_back(
                {path, Bytes(bytes), depth, each, 2 * each,
                 depth * static_cast<double>(bytes) / each * kNano});
        }
}

void deriveReads(BoardProfile& board) {
    // A preset's reads are those of its device. A probe of the first version measured the cache.
    constexpr double kSystemCallNs = 1500;
    const bool isProbe = board.source.starts_with("probe");
    for (const ReadPath path : {ReadPath::Buffered, ReadPath::Direct})
        if (!board.hasReads(path))
            addPoints(board, path, board.readLatencyNs, board.readBytesPerSecond);
    if (board.hasReads(ReadPath::Cached))
        return;
    if (isProbe)
        addPoints(board, ReadPath::Cached, board.readLatencyNs, board.readBytesPerSecond);
    else // each byte is read and written once
        addPoints(board, ReadPath::Cached, kSystemCallNs, board.memoryBytesPerSecond / 2);
}

void deriveKernels(BoardProfile& board) {
    auto filled = board.kernels; // apart: what is filled in must not answer for what comes next
    for (std::size_t kernel = 0; kernel < kKernelClassCount; ++kernel)
        for (std::size_t dtype = 0; dtype < kDTypeCount; ++dtype) {
            const KernelKey key{static_cast<KernelClass>(kernel), static_cast<DType>(dtype)};
            filled[kernel][dtype] = {board.kernelRate(key, false), board.kernelRate(key, true)};
        }
    board.kernels = filled;
}

} // namespace

std::string_view readPathName(ReadPath path) {
    constexpr std::array<std::string_view, kReadPathCount> kNames{"cached", "buffered", "direct"};
    return kNames[static_cast<std::size_t>(path)];
}

base::Nanos BoardProfile::readTime(Bytes bytes, double limit) const {
    const double rate = limit > 0 ? std::min(limit, readBytesPerSecond) : readBytesPerSecond;
    return base::Nanos(std::llround(readLatencyNs + bytes.real() / rate * kNano));
}

bool BoardProfile::hasReads(ReadPath path) const {
    return std::any_of(
        reads.begin(), reads.end(), [&](const ReadPoint& p) { return p.path == path; });
}

double BoardProfile::requestNs(ReadPath path, Bytes bytes) const {
    const ReadPoint* low = pointBelow(reads, path, bytes, 1);
    if (!low)
        return readTime(bytes, 0).real();
    const ReadPoint* high = pointAbove(reads, path, bytes);
    if (low->bytes >= bytes || !high) // less than the least, or more than the most
        return low->p50Ns +
               std::max(0.0, (bytes - low->bytes).real()) / low->bytesPerSecond * kNano;
    const double share = (bytes - low->bytes).real() / (high->bytes - low->bytes).real();
    return low->p50Ns + share * (high->p50Ns - low->p50Ns);
}

double BoardProfile::readRate(ReadPath path, Bytes request, std::int32_t depth) const {
    const ReadPoint* point = pointBelow(reads, path, request, depth);
    return point ? point->bytesPerSecond : request.real() / readTime(request, 0).real() * kNano;
}

double BoardProfile::kernelRate(KernelKey key, bool streamed) const {
    const auto& rates = kernels[static_cast<std::size_t>(key.kernel)];
    const KernelRate* rate = &rates[static_cast<std::size_t>(key.dtype)];
    if (rate->cached <= 0 && key.dtype != DType::F32) // a type that was not measured
        rate = &rates[static_cast<std::size_t>(DType::F16)];
    if (rate->cached <= 0)
        rate = &rates[static_cast<std::size_t>(DType::F32)];
    if (rate->cached <= 0)
        return classicRate(*this, key);
    return streamed && rate->streamed > 0 ? rate->streamed : rate->cached;
}

double BoardProfile::computeSpeedUp(std::int32_t threads) const {
    const std::int32_t n = std::clamp(threads, 1, cores);
    const auto above =
        std::find_if(threadScaling.begin(), threadScaling.end(), [&](const ThreadPoint& p) {
            return p.threads >= n;
        });
    if (above == threadScaling.end()) { // more than were measured, or nothing was
        const double known = threadScaling.empty() ? 1 : threadScaling.back().computeSpeedUp;
        const std::int32_t at = threadScaling.empty() ? 1 : threadScaling.back().threads;
        return known + (n - at) * threadEfficiency;
    }
    if (above->threads == n || above == threadScaling.begin())
        return above->computeSpeedUp;
    const ThreadPoint& below = *(above - 1);
    const double share = double(n - below.threads) / (above->threads - below.threads);
    return below.computeSpeedUp + share * (above->computeSpeedUp - below.computeSpeedUp);
}

double BoardProfile::memoryRate(std::int32_t threads) const {
    const std::int32_t n = std::clamp(threads, 1, cores);
    const auto above =
        std::find_if(threadScaling.begin(), threadScaling.end(), [&](const ThreadPoint& p) {
            return p.threads >= n && p.memoryBytesPerSecond > 0;
        });
    if (above == threadScaling.end()) {
        // A memory bus is full before all cores are busy: its gain is spread over the fast ones.
        const double others = std::min(1.0, double(n - 1) / std::max(1, fastCores - 1));
        return memoryBytesPerSecond * (1 + (memoryScale - 1) * others);
    }
    if (above->threads == n || above == threadScaling.begin())
        return above->memoryBytesPerSecond;
    const ThreadPoint& below = *(above - 1);
    const double share = double(n - below.threads) / (above->threads - below.threads);
    return below.memoryBytesPerSecond +
           share * (above->memoryBytesPerSecond - below.memoryBytesPerSecond);
}

double BoardProfile::lostWhileReading(ReadPath path, bool isThrottled) const {
    if (isThrottled)
        return overlapThrottled.value_or(overlap);
    return path == ReadPath::Cached ? overlap : overlapDirect.value_or(overlap);
}

void fillDerived(BoardProfile& board) {
    deriveReads(board);
    deriveKernels(board);
    if (board.threadScaling.empty()) {
        std::vector<ThreadPoint> points;
        for (std::int32_t n = 1; n <= board.fastCores;
             n = n < board.fastCores ? std::min(2 * n, board.fastCores) : n + 1)
            points.push_back({n, board.computeSpeedUp(n), board.memoryRate(n)});
        board.threadScaling = std::move(points);
    }
    board.overlapDirect = board.overlapDirect.value_or(board.overlap);
    board.overlapThrottled = board.overlapThrottled.value_or(board.overlap);
    board.minorFaultNs = board.minorFaultNs.value_or(board.pageFaultNs);
    board.mappedBytesPerSecond = board.mappedBytesPerSecond.value_or(board.readBytesPerSecond);
    board.populatedBytesPerSecond =
        board.populatedBytesPerSecond.value_or(board.readBytesPerSecond);
}

} // namespace shardscope::plan
