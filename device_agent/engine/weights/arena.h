// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::engine {

/// The one piece of memory of a run, as large as the plan's peak. Its pages become resident when
/// they are first written, so the resident set never exceeds the plan. Thread-compatible.
class Arena {
public:
    /// Failed where the system does not give that much address space.
    static base::Result<Arena> reserve(base::Bytes size);

    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&&) = delete;
    ~Arena();

    /// Gives all pages back: what stands in them is lost.
    void release();

    std::byte* at(base::Bytes offset) const { return m_begin + offset.value; }
    base::Bytes size() const { return m_size; }

private:
    Arena(std::byte* begin, base::Bytes size) : m_begin(begin), m_size(size) {}
    std::byte* m_begin;
    base::Bytes m_size;
};

} // namespace shardscope::engine
