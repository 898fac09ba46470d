// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/cgroup_memory.h"

#include <algorithm>
#include <array>

namespace shardscope::probes {
namespace {

using base::Bytes;

/// "No limit" of version 1 is the largest number of whole pages; nothing real comes near.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
/// memory.stat takes about 2 KiB.
constexpr std::size_t kStatBytes = 8192;

/// The group of this process in one hierarchy, from a line "4:memory:/path" or "0::/path".
std::optional<std::string> groupPath(std::string_view table, bool isV2) {
    for (std::size_t at = 0; at < table.size();) {
        const std::string_view line = table.substr(at, table.find('\n', at) - at);
        at += line.size() + 1;
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string_view::npos)
            continue;
        const std::string_view names = line.substr(first + 1, second - first - 1);
        const bool isWanted = isV2 ? names.empty() && line.starts_with("0:")
                                   : names == "memory" || names.starts_with("memory,") ||
                                         names.ends_with(",memory") ||
                                         names.find(",memory,") != names.npos;
        if (isWanted)
            return std::string(line.substr(second + 1));
    }
    return std::nullopt;
}

struct Limit {
    Bytes bytes;
    std::string folder;
};

/// The lowest limit of the group and those above it. A path that does not exist here is that of the
/// host; the container then sees its own group as the root of the mount.
std::optional<Limit> lowestLimit(const std::string& mount, std::string path, const char* file) {
    std::optional<Limit> lowest;
    for (;;) {
        const std::string folder = mount + (path == "/" ? "" : path);
        const auto limit = ProcFile(folder + "/" + file).readNumber();
        if (limit && *limit < kNoLimit && (!lowest || *limit < lowest->bytes.value))
            lowest = {Bytes(*limit), folder};
        if (path.empty() || path == "/")
            return lowest;
        const std::size_t parent = path.rfind('/');
        path.resize(parent == std::string::npos ? 0 : parent);
    }
}

} // namespace

CgroupMemory CgroupMemory::open(const KernelRoots& roots) {
    CgroupMemory group;
    const std::string table = readKernelText(roots.self + "/cgroup");
    std::optional<Limit> found;
    if (const auto path = groupPath(table, false))
        found = lowestLimit(roots.cgroups + "/memory", *path, "memory.limit_in_bytes");
    if (const auto path = groupPath(table, true); path && !found) {
        found = lowestLimit(roots.cgroups, *path, "memory.max");
        group.m_isV2 = found.has_value();
    }
    if (!found)
        return group;
    group.m_limit = found->bytes;
    group.m_stat = ProcFile(found->folder + "/memory.stat");
    group.m_usage =
        ProcFile(found->folder + (group.m_isV2 ? "/memory.current" : "/memory.usage_in_bytes"));
    return group;
}

std::optional<Bytes> CgroupMemory::pageCache() const {
    std::array<char, kStatBytes> buffer;
    const auto cache = numberAfter(m_stat.read(buffer), m_isV2 ? "file" : "total_cache");
    return cache ? std::optional(Bytes(*cache)) : std::nullopt;
}

std::optional<Bytes> CgroupMemory::available() const {
    const auto used = m_usage.readNumber();
    if (!m_limit || !used)
        return std::nullopt;
    std::array<char, kStatBytes> buffer;
    const std::int64_t idle =
        numberAfter(m_stat.read(buffer), m_isV2 ? "inactive_file" : "total_inactive_file")
            .value_or(0);
    return Bytes(std::clamp(m_limit->value - *used + idle, std::int64_t{0}, m_limit->value));
}

} // namespace shardscope::probes
