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

void scaleProcessor(BoardProfile& board, double share) {
    for (auto& rates : board.opsPerSecond)
        for (double& rate : rates)
            rate *= share;
    for (auto& rates : board.kernels)
        for (plan::KernelRate& rate : rates) {
            rate.cached *= share;
            rate.streamed *= share;
        }
    for (plan::ThreadPoint& point : board.threadScaling)
        point.memoryBytesPerSecond *= share;
    board.memoryBytesPerSecond *= share;
    board.opFixedNs /= share;
    board.opFixedAloneNs /= share;
    board.tokenFixedNs /= share;
    board.pageFaultNs /= share;
    board.minorFaultNs = board.minorFaultNs.value_or(board.pageFaultNs) / share;
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
        scaleProcessor(held, limits.cores / limits.threads);
    holdReads(held, limits.readBytesPerSecond);
    return held;
}

} // namespace shardscope::app
