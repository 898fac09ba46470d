// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/quick_probe.h"

#include <algorithm>

#include "device_agent/engine/kernels/vector_targets.h"
#include "device_agent/probes/compute_rates.h"
#include "device_agent/probes/cpu_facts.h"
#include "device_agent/probes/process_memory.h"
#include "device_agent/probes/storage_rates.h"

namespace shardscope::probes {
namespace {

using base::Bytes;

/// Weights to stream: more than usual caches hold, but no more than the board has to give.
Bytes workingSet(Bytes freeRam) {
    const Bytes most = base::mebibytes(96);
    return std::clamp(Bytes(freeRam.value / 8), base::mebibytes(4), most);
}

} // namespace

base::Result<plan::BoardProfile> quickProbe(const std::string& folder) {
    const ProcessMemory memory = ProcessMemory::open();
    const Bytes freeRam = memory.freeRam().value_or(memory.ramTotal());
    plan::BoardProfile board;
    board.name = "local";
    board.cpu = cpuName();
    board.ramTotal = memory.ramTotal();
    board.ramReserved = std::max(Bytes(0), memory.ramTotal() - freeRam);
    board.cores = cores();
    board.fastCores = fastCores();
    const auto threads = static_cast<unsigned>(std::clamp(board.fastCores, 1, 64));

    const auto compute = measureCompute(threads, workingSet(freeRam), folder);
    if (!compute)
        return compute.error();
    board.opsPerSecond = compute->opsPerSecond;
    board.memoryBytesPerSecond = compute->memoryBytesPerSecond;
    board.memoryScale = compute->memoryScale;
    board.threadEfficiency = compute->threadEfficiency;
    board.opFixedNs = compute->opFixedNs;

    engine::kernels::ThreadPool pool(threads);
    const auto storage = measureStorage(folder, pool);
    if (!storage)
        return storage.error();
    board.readBytesPerSecond = storage->cached.bytesPerSecond;
    board.readLatencyNs = storage->cached.latencyNs;
    board.pageFaultNs = storage->pageFaultNs;
    board.overlap = storage->overlap;
    board.storage = storage->words;
    board.source = std::string("probe with ") + engine::kernels::vectorTargetName() +
                   " kernels; reads are those of pread from the page cache, as a run sees a model "
                   "that was read before";
    return board;
}

} // namespace shardscope::probes
