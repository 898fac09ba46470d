// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads single rows of tables that are not resident: by the same way as the loader, through the
/// page cache or past it. Thread-compatible.
class RowReader {
public:
    /// `direct` is a descriptor of WeightFile::directDescriptor(), or -1: through the page cache.
    RowReader(const WeightFile& file, int direct);

    /// A row of the first (0) or second (1) table of an op.
    base::Status read(std::size_t table, base::Bytes offset, std::byte* out, base::Bytes bytes);

private:
    /// Past the cache whole pages are read, and some more: the next row of positions is in them.
    struct Window {
        std::unique_ptr<std::byte, decltype(&std::free)> pages{nullptr, &std::free};
        base::Bytes begin, end; ///< in the file; empty at first
        bool holds(base::Bytes offset, base::Bytes bytes) const {
            return begin <= offset && offset + bytes <= end;
        }
    };
    base::Status fill(Window& window, base::Bytes offset, base::Bytes bytes);

    const WeightFile& m_file;
    int m_direct;
    std::array<Window, 2> m_windows; ///< by table
};

} // namespace shardscope::engine
