// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/probe.h"

#include <algorithm>
#include <cstdlib>

#include "device_agent/probes/compute_rates.h"
#include "device_agent/probes/cpu_facts.h"
#include "device_agent/probes/machine_facts.h"
#include "device_agent/probes/proc_file.h"
#include "device_agent/probes/process_memory.h"
#include "device_agent/probes/storage_rates.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using base::Bytes;

/// Weights to stream: more than usual caches hold, but no more than the board has to give.
Bytes workingSet(Bytes freeRam, Bytes cache) {
    const Bytes most = std::max(base::mebibytes(96), cache * 3);
    return std::clamp(Bytes(freeRam.value / 8), base::mebibytes(6), most);
}

std::string folderOf(const ProbeOptions& options) {
    if (!options.folder.empty())
        return options.folder;
    const char* temporary = std::getenv("TMPDIR");
    return temporary && *temporary ? temporary : "/var/tmp";
}

/// Runnable processes over the last minute, without ours.
double loadBefore() {
    return base::parseReal(readKernelText("/proc/loadavg").substr(0, 4)).value_or(0);
}

void judgeNoise(plan::BoardProfile& board, double load) {
    plan::ProbeNoise& noise = *board.noise;
    noise.load = load;
    const bool isBusy = load > 0.5 * board.cores || noise.compute > 0.1;
    noise.words = base::formatted(
        "%s: load %.1f before; the middle of the rounds lies %.0f %% above the best for kernels, "
        "%.0f %% for reads",
        isBusy ? "busy" : "quiet", load, noise.compute * 100, noise.reads * 100);
}

} // namespace

base::Result<plan::BoardProfile> probe(const ProbeOptions& options) {
    const double load = loadBefore();
    const std::string folder = folderOf(options);
    const ProcessMemory memory = ProcessMemory::open();
    const Bytes freeRam = memory.freeRam().value_or(memory.ramTotal());
    plan::BoardProfile board;
    board.name = "local";
    board.cpu = cpuName();
    board.machine = machineFacts();
    board.machine.cgroupLimit = memory.cgroupLimit().value_or(Bytes(0));
    board.ramTotal = memory.ramTotal();
    board.ramReserved = std::max(Bytes(0), memory.ramTotal() - freeRam);
    board.cores = cores();
    board.fastCores = fastCores();
    const auto threads = static_cast<unsigned>(std::clamp(board.fastCores, 1, 64));
    engine::kernels::ThreadPool pool(threads);
    const Bytes streamed = workingSet(freeRam, board.machine.cacheBytes);
    const StorageOptions storage{folder, streamed, options.isQuick};
    if (auto status = measureStorage(storage, pool, options.progress, board); !status)
        return status.error();
    const double reads = board.noise->reads;
    const ComputeOptions compute{threads, streamed, folder, options.isQuick};
    if (auto status = measureCompute(compute, options.progress, board); !status)
        return status.error();
    board.noise->reads = reads;
    judgeNoise(board, load);
    board.source = std::string(options.isQuick ? "probe --quick" : "probe") + " with " +
                   board.machine.vectorTarget +
                   " kernels; read_bytes_per_s is that of pread from the page cache, as a run sees "
                   "a model that was read before; the device stands in reads";
    if (options.isQuick)
        board.sources.emplace_back(
            "kernels",
            "--quick measures f32 and f16: the rates of f16 stand for the block formats");
    return board;
}

} // namespace shardscope::probes
