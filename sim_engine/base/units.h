// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace shardscope::base {

/// An amount with its unit in the type; Tag names the unit. Arithmetic keeps the unit.
template <typename Tag>
struct Quantity {
    std::int64_t value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(std::int64_t v) : value(v) {}

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity operator+(Quantity o) const { return Quantity(value + o.value); }
    constexpr Quantity operator-(Quantity o) const { return Quantity(value - o.value); }
    constexpr Quantity operator*(std::int64_t n) const { return Quantity(value * n); }
    constexpr Quantity& operator+=(Quantity o) { return value += o.value, *this; }
    constexpr Quantity& operator-=(Quantity o) { return value -= o.value, *this; }
    constexpr std::size_t size() const { return static_cast<std::size_t>(value); }
    constexpr double real() const { return static_cast<double>(value); }
};

using Bytes = Quantity<struct BytesTag>;
using Nanos = Quantity<struct NanosTag>;

constexpr Bytes kibibytes(std::int64_t n) { return Bytes(n << 10); }
constexpr Bytes mebibytes(std::int64_t n) { return Bytes(n << 20); }
constexpr double milliseconds(Nanos t) { return t.real() * 1e-6; }
constexpr double seconds(Nanos t) { return t.real() * 1e-9; }

/// The least multiple of `step` (a power of two) that is not below `n`.
constexpr Bytes alignUp(Bytes n, std::int64_t step) {
    return Bytes((n.value + step - 1) & ~(step - 1));
}

/// An index into one kind of table; Tag names the table.
template <typename Tag>
struct Id {
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    std::uint32_t value = kNone;

    constexpr Id() = default;
    constexpr explicit Id(std::unsigned_integral auto v) : value(static_cast<std::uint32_t>(v)) {}

    constexpr auto operator<=>(const Id&) const = default;
    constexpr bool valid() const { return value != kNone; }
    constexpr std::size_t index() const { return value; }
};

using TensorId = Id<struct TensorTag>; ///< a tensor of a ModelCard
using BufferId = Id<struct BufferTag>; ///< a working buffer of a model's graph
using OpId = Id<struct OpTag>;         ///< an op of a model's graph, over all passes
using ShardId = Id<struct ShardTag>;   ///< a shard of a plan
using BlockId = Id<struct BlockTag>;   ///< a block of a plan's arena map

} // namespace shardscope::base
