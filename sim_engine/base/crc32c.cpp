// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/base/crc32c.h"

#include <array>

namespace shardscope::base {
namespace {

constexpr std::array<std::uint32_t, 256> makeTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit)
            c = (c >> 1) ^ ((c & 1) ? 0x82F63B78u : 0u);
        table[i] = c;
    }
    return table;
}

constexpr auto kTable = makeTable();

} // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t crc) {
    const auto* at = static_cast<const unsigned char*>(data);
    crc = ~crc;
    for (std::size_t i = 0; i < bytes; ++i)
        crc = (crc >> 8) ^ kTable[(crc ^ at[i]) & 0xFF];
    return ~crc;
}

} // namespace shardscope::base
