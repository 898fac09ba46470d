// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/mount_facts.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device_agent/probes/proc_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

/// The first word of `text`, which is cut off it.
std::string_view takeWord(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
    return word;
}

} // namespace

std::optional<Mount> findMount(std::string_view table, unsigned major, unsigned minor) {
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
    constexpr int kWordsBeforeOptions = 5;
    const std::string wanted = base::formatted(" %u:%u ", major, minor);
    while (!table.empty()) {
        std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(line.size() < table.size() ? line.size() + 1 : line.size());
        const std::size_t dash = line.find(" - ");
        if (line.find(wanted) == std::string_view::npos || dash == std::string_view::npos)
            continue;
        Mount mount;
        std::string_view front = line.substr(0, dash);
        for (int i = 0; i < kWordsBeforeOptions; ++i)
            takeWord(front);
        mount.options = takeWord(front);
        line.remove_prefix(dash + 3);
        mount.type = takeWord(line);
        mount.source = takeWord(line);
        return mount;
    }
    return std::nullopt;
}

std::string mountWords(std::string_view table, unsigned major, unsigned minor) {
    const auto mount = findMount(table, major, minor);
    return mount ? mount->words() : std::string();
}

std::string Mount::words() const {
    if (source.empty() || source == "none" || source == type)
        return type;
    return type + " on " + source;
}

std::string mountWordsOf(int descriptor) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0)
        return {};
    return mountWords(
        readKernelText("/proc/self/mountinfo"), major(info.st_dev), minor(info.st_dev));
}

} // namespace shardscope::probes
