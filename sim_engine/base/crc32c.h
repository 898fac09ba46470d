// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardscope::base {

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), continued from `crc` (0 to begin).
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t crc = 0);

} // namespace shardscope::base
