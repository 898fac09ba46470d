// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/emulate/emulated_board.h"

#include <algorithm>
#include <cmath>

#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Bytes;
using plan::BoardProfile;
using plan::KernelClass;

namespace {

const QString kPrefix = QStringLiteral("emulated:");

/// Of all fast cores together, operations per second.
double speedOf(const BoardProfile& board) {
    const double products = board.kernelRate({KernelClass::MatMul, model::DType::F16}, false) *
                            board.computeSpeedUp(board.fastCores);
    const double row = board.kernelRate({KernelClass::MatVec, model::DType::F16}, true);
    // Two bytes of weights for two operations: memory bounds what the processor could do.
    const double rows =
        std::min(row * board.computeSpeedUp(board.fastCores), board.memoryRate(board.fastCores));
    return std::sqrt(products * rows);
}

/// A quota of `cores` processors: one thread has a share of one, and more threads gain what is left
/// of the quota. What copies bytes or answers a fault is work of the processor like any other.
void scaleProcessor(BoardProfile& board, double cores) {
    const double share = std::min(1.0, cores), gain = std::max(1.0, cores);
    for (auto& rates : board.opsPerSecond)
        for (double& rate : rates)
            rate *= share;
    for (auto& rates : board.kernels)
        for (plan::KernelRate& rate : rates) {
            rate.cached *= share;
            rate.streamed *= share;
        }
    board.memoryBytesPerSecond *= share;
    for (plan::ThreadPoint& point : board.threadScaling) {
        point.computeSpeedUp = std::min(point.computeSpeedUp, gain);
        point.memoryBytesPerSecond =
            std::min(point.memoryBytesPerSecond, board.memoryBytesPerSecond * gain);
    }
    board.memoryScale = std::clamp(board.memoryScale, 1.0, gain);
    if (board.fastCores > 1)
        board.threadEfficiency =
            std::min(board.threadEfficiency, (gain - 1) / (board.fastCores - 1));
    for (plan::ReadPoint& p : board.reads)
        if (p.path == plan::ReadPath::Cached)
            p = {p.path,          p.bytes,         p.depth,
                 p.p50Ns / share, p.p99Ns / share, p.bytesPerSecond * share};
    board.readBytesPerSecond *= share;
    board.readLatencyNs /= share;
    for (double* cost :
         {&board.opFixedNs, &board.opFixedAloneNs, &board.tokenFixedNs, &board.pageFaultNs})
        *cost /= share;
    board.minorFaultNs = board.minorFaultNs ? *board.minorFaultNs / share : board.pageFaultNs;
    if (cores <= 1) // the quota is used up by one thread: what reading takes, computing loses
        board.overlap = 1;
}

void holdReads(BoardProfile& board, double limit) {
    for (plan::ReadPoint& p : board.reads) {
        if (p.path == plan::ReadPath::Cached || p.bytesPerSecond <= limit)
            continue;
        const double longer = p.depth * p.bytes.real() / limit * 1e9;
        p.p50Ns = std::max(p.p50Ns, longer);
        p.p99Ns = std::max(p.p99Ns, p.p50Ns);
        p.bytesPerSecond = limit;
    }
    board.readBytesPerSecond = std::min(board.readBytesPerSecond, limit);
    const auto hold = [&](std::optional<double>& rate) {
        rate = std::min(rate.value_or(board.readBytesPerSecond), limit);
    };
    hold(board.mappedBytesPerSecond);
    hold(board.populatedBytesPerSecond);
}

} // namespace

bool isEmulated(const QString& board) {
    return board.startsWith(kPrefix);
}

QString emulatedName(const QString& board) {
    return board.mid(kPrefix.size());
}

EmulationLimits emulationLimits(const BoardProfile& board, const BoardProfile& local) {
    EmulationLimits limits;
    limits.memory = board.ramTotal - board.ramReserved;
    limits.readBytesPerSecond = board.readBytesPerSecond;
    limits.threads = std::clamp(board.fastCores, 1, std::max(local.cores, 1));
    const double here = speedOf(local) / std::max(local.computeSpeedUp(local.fastCores), 1.0);
    const double cores = here > 0 ? speedOf(board) / here : 0;
    if (cores < limits.threads * 0.98)
        limits.cores = cores;
    return limits;
}

BoardProfile emulatedProfile(
    const BoardProfile& board, const BoardProfile& local, const EmulationLimits& limits) {
    BoardProfile held = local;
    held.name = "emulated:" + board.name;
    held.source = "This machine (" + local.source + ") held to " + board.name;
    held.cpu = limits.cores > 0
                   ? base::formatted("%s, %.3f of its cores", local.cpu.c_str(), limits.cores)
                   : local.cpu;
    held.storage = local.storage + ", held to " + base::rateText(limits.readBytesPerSecond);
    held.ramTotal = std::min(local.ramTotal, board.ramTotal);
    held.ramReserved = std::min(held.ramTotal, board.ramReserved);
    held.cores = held.fastCores = limits.threads;
    std::erase_if(
        held.threadScaling, [&](const plan::ThreadPoint& p) { return p.threads > limits.threads; });
    if (limits.cores > 0)
        scaleProcessor(held, limits.cores);
    holdReads(held, limits.readBytesPerSecond);
    return held;
}

} // namespace shardscope::app
