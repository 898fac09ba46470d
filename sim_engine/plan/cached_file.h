// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "sim_engine/base/units.h"

namespace shardscope::plan {

/// How a model file lies in the page cache. Its pages are where there was room when they came, in
/// large pieces or page by page, so that some take several times as long to copy as others, and
/// always the same ones until the file leaves the cache.
struct CachedFile {
    std::string model;         ///< ModelCard::name
    base::Bytes cell;          ///< of the file, for each of the costs
    std::vector<double> costs; ///< of copying a byte, against the mean of the file

    /// The bytes of a part of the file, each counted by its cost; by 1 where that is not known.
    double weighted(base::Bytes offset, base::Bytes bytes) const {
        double sum = bytes.real();
        each(offset, bytes, [&](std::size_t at, double part) { sum += part * (costs[at] - 1); });
        return sum;
    }
    /// fn(index of a cost, bytes of the part that it is for); what lies behind the last is left
    /// out.
    template <typename Fn>
    void each(base::Bytes offset, base::Bytes bytes, Fn fn) const {
        const base::Bytes end = std::min(offset + bytes, size());
        while (offset < end) {
            const std::int64_t at = offset.value / cell.value;
            const base::Bytes next = std::min(end, cell * (at + 1));
            fn(static_cast<std::size_t>(at), (next - offset).real());
            offset = next;
        }
    }

private:
    base::Bytes size() const { return cell * static_cast<std::int64_t>(costs.size()); }
};

} // namespace shardscope::plan
