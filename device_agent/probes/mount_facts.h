// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace shardscope::probes {

/// "ext4 on /dev/vda": file system and source of the device with these numbers, from a table in the
/// form of /proc/self/mountinfo; empty where it is not there.
std::string mountWords(std::string_view table, unsigned major, unsigned minor);

/// The same for the file system that an open file is on.
std::string mountWordsOf(int descriptor);

} // namespace shardscope::probes
