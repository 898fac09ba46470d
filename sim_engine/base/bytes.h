// SPDX-License-Identifier: GPL-3.0-or-later
// Little-endian values at any byte address: files and wires promise no alignment.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

namespace shardscope::base {

static_assert(std::endian::native == std::endian::little, "the formats are read in place");

/// The T that stands at `at`, which may be unaligned; the caller has checked that it is there.
template <typename T>
T loadAs(const void* at) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Writes `value` at `at`, which may be unaligned.
template <typename T>
void storeAs(void* at, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(at, &value, sizeof value);
}

} // namespace shardscope::base
