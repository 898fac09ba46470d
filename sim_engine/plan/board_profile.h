// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"
#include "sim_engine/plan/kernel_class.h"
#include "sim_engine/plan/measured_costs.h"

namespace shardscope::plan {

/// The way of a read: served by the page cache, brought into it from storage, or past it
/// (O_DIRECT).
enum class ReadPath : std::uint8_t { Cached, Buffered, Direct };
inline constexpr std::size_t kReadPathCount = 3;

/// "cached", "buffered", "direct".
std::string_view readPathName(ReadPath path);

/// Requests of one size, so many of them under way at a time.
struct ReadPoint {
    ReadPath path = ReadPath::Cached;
    base::Bytes bytes; ///< of a request
    std::int32_t depth = 1;
    double p50Ns = 0, p99Ns = 0; ///< of one request, from its issue to its end
    double bytesPerSecond = 0;   ///< of all that are under way together
};

/// A kernel with one thread.
struct KernelRate {
    double cached = 0;   ///< operations per second on data that the caches hold
    double streamed = 0; ///< the same on weights (or keys and values) that come from memory
};

/// So many threads together.
struct ThreadPoint {
    std::int32_t threads = 1;
    double computeSpeedUp = 1;       ///< of a product that the caches hold, against one thread
    double memoryBytesPerSecond = 0; ///< weights streamed by all of them
};

struct CpuCluster {
    std::int32_t cores = 0;
    std::int32_t mhz = 0; ///< highest clock; 0 where the system does not tell
    std::string name;     ///< "Cortex-A76"
};

/// What the machine is, for people and for telling two boards apart.
struct MachineFacts {
    std::string architecture; ///< "x86_64", "aarch64", "armv7l"
    std::string kernel;       ///< "Linux 6.1.0"
    std::string fileSystem;   ///< of the folder that was measured: "ext4 on /dev/vda"
    std::string vectorTarget; ///< instruction set of the kernels: "AVX3", "NEON"
    std::vector<CpuCluster> clusters;
    base::Bytes cacheBytes;  ///< of the largest cache of a core; 0 where it is not told
    base::Bytes cgroupLimit; ///< of memory; 0 where there is none
};

/// How far repeated measurements of the same thing lay apart: (median - least) / least.
struct ProbeNoise {
    double compute = 0;
    double reads = 0;
    double load = 0; ///< runnable processes over the last minute, before the probe
    std::string words;
};

/// What a board can do, as the simulator needs it: a preset, measured by `shardscope-agent probe`,
/// or fitted from runs. Rates are those of one thread unless they say otherwise.
///
/// The first part is what every profile has. The second part may be missing from older files; the
/// functions below then answer from the first part, and fillDerived() writes their answers down.
struct BoardProfile {
    std::string name;    ///< "local", "v851s-512m-nand"
    std::string source;  ///< where the values come from: "probe", a data sheet
    std::string cpu;     ///< for people
    std::string storage; ///< for people
    base::Bytes ramTotal;
    base::Bytes ramReserved; ///< what the system and others hold
    std::int32_t cores = 1;
    std::int32_t fastCores = 1;

    double readLatencyNs = 0;        ///< fixed cost of a read
    double readBytesPerSecond = 0;   ///< of large reads
    double memoryBytesPerSecond = 0; ///< read bandwidth of one thread
    double memoryScale = 1;          ///< of all fast cores together, against one thread
    /// Operations per second by model::OpKind and whether the matrix is f32 (0) or narrower (1);
    /// attention: of the encoder (0), of one token over an f16 cache (1).
    std::array<std::array<double, 2>, model::kOpKindCount> opsPerSecond{};
    double opFixedNs = 0;        ///< cost of an op beside its work: hand-off to the threads
    double threadEfficiency = 1; ///< share of each further core that a compute-bound op gains
    double pageFaultNs = 0;      ///< a page that populate maps from the page cache, and its unmap
    /// Share of overlapped I/O time that compute loses: T = max + overlap * min. Reads are served
    /// by the page cache.
    double overlap = 0;

    std::vector<ReadPoint> reads;
    /// By KernelClass and model::DType; zeros where nothing was measured.
    std::array<std::array<KernelRate, kDTypeCount>, kKernelClassCount> kernels{};
    std::vector<ThreadPoint> threadScaling; ///< ascending, from 1 thread
    double opFixedAloneNs = 0; ///< cost of an op beside its work with one thread: no hand-off
    double tokenFixedNs = 0;   ///< cost of a token beside its ops: suppression, choice, events
    std::optional<double> overlapDirect;        ///< as overlap, for reads past the page cache
    std::optional<double> overlapThrottled;     ///< for reads that --emulate-read holds back
    std::optional<double> minorFaultNs;         ///< a page of a lazy map that is in the page cache
    std::optional<double> mappedBytesPerSecond; ///< touching a lazy map that is not (mmap)
    std::optional<double> populatedBytesPerSecond; ///< mapping at once what is not (populate)
    MachineFacts machine;
    std::optional<ProbeNoise> noise;
    /// Keys of values and where each comes from, where `source` does not tell it for all.
    std::vector<std::pair<std::string, std::string>> sources;
    /// What `calibrate` and `validate` have fitted to runs; empty for a preset or a probe.
    MeasuredCosts measured;

    /// Seconds that a read of `bytes` takes, throttled to `limit` bytes per second if it is not 0.
    base::Nanos readTime(base::Bytes bytes, double limit) const;

    bool hasReads(ReadPath path) const;
    /// Time of one request, the only one under way; between measured sizes linear in the bytes.
    double requestNs(ReadPath path, base::Bytes bytes) const;
    /// Bytes per second of requests of this size with `depth` of them under way: at the measured
    /// depth that is nearest below, else the least one.
    double readRate(ReadPath path, base::Bytes request, std::int32_t depth) const;
    /// Operations per second of one thread.
    double kernelRate(KernelKey kernel, bool streamed) const;
    /// Speed-up of a compute-bound op by `threads`, against one; no more than the cores give.
    double computeSpeedUp(std::int32_t threads) const;
    double memoryRate(std::int32_t threads) const; ///< bytes per second
    double fixedNs(std::int32_t threads) const { return threads > 1 ? opFixedNs : opFixedAloneNs; }
    double lostWhileReading(ReadPath path, bool isThrottled) const; ///< an overlap factor
};

/// Writes down what the functions of the profile answer for values that it does not have.
void fillDerived(BoardProfile& profile);

nlohmann::ordered_json toJson(const BoardProfile& profile);

/// BadInput naming the key where a value is missing, negative, not finite or absurd. Values of the
/// second part may be missing: they are derived.
base::Result<BoardProfile> profileFromJson(const nlohmann::ordered_json& document);

} // namespace shardscope::plan
