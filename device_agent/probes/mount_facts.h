// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardscope::probes {

/// One line of a table in the form of /proc/self/mountinfo.
struct Mount {
    std::string type;    ///< "ext4"
    std::string source;  ///< "/dev/vda"
    std::string options; ///< "rw,noatime": those of the mount, not of the file system

    /// "ext4 on /dev/vda".
    std::string words() const;
};

/// The first file system on the device with these numbers.
std::optional<Mount> findMount(std::string_view table, unsigned major, unsigned minor);

/// "ext4 on /dev/vda": file system and source of the device with these numbers, from a table in the
/// form of /proc/self/mountinfo; empty where it is not there.
std::string mountWords(std::string_view table, unsigned major, unsigned minor);

/// The same for the file system that an open file is on.
std::string mountWordsOf(int descriptor);

} // namespace shardscope::probes
