// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/trace/event.h"

#include <array>

namespace shardscope::trace {

std::string_view laneName(Lane lane) {
    constexpr std::array<std::string_view, kLaneCount> kNames{"compute", "I/O", "sampler"};
    const auto i = static_cast<std::size_t>(lane);
    return i < kNames.size() ? kNames[i] : "unknown";
}

std::string_view eventKindName(EventKind kind) {
    constexpr std::array<std::string_view, kLastEventKind + 1> kNames{
        "unknown", "run begin", "window",  "phase", "compute", "read",    "stall", "load", "evict",
        "alloc",   "free",      "counter", "token", "dropped", "run end", "note",  "step"};
    const auto i = static_cast<std::size_t>(kind);
    return i < kNames.size() ? kNames[i] : kNames[0];
}

std::string_view counterName(CounterKind kind) {
    constexpr std::array<std::string_view, kCounterCount> kNames{
        "RSS",        "PSS",         "page cache", "free RAM",
        "bytes read", "temperature", "core clock", "swap used"};
    const auto i = static_cast<std::size_t>(kind);
    return i < kNames.size() ? kNames[i] : "unknown";
}

std::string_view counterUnit(CounterKind kind) {
    switch (kind) {
    case CounterKind::Heat:
        return "millidegrees";
    case CounterKind::Clock:
        return "kHz";
    default:
        return "bytes";
    }
}

} // namespace shardscope::trace
