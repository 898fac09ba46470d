// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim_engine/base/units.h"

namespace shardscope::plan {

/// How much of its place in the arena a copy from the page cache finds in the processor's caches:
/// where that is lost, its lines are fetched and written back as well, and the copy takes longer.
/// It is lost the more bytes went through the caches since the place was filled last: all of it
/// after twice what they hold, since they keep no strict order.
class CachedPlaces {
public:
    /// `caches` of zero bytes, where they are not known, lose nothing.
    CachedPlaces(std::size_t places, base::Bytes caches)
        : m_caches(caches.real()), m_filledAt(places, kNever) {}

    /// An op has read so many bytes of weights.
    void use(double bytes) { m_through += bytes; }
    /// A copy into a place: the share of it that is lost, 0 to 1; 0 where nothing was there yet.
    double fill(std::size_t place, double bytes) {
        const double since = m_filledAt[place];
        m_through += 2 * bytes; // as it is read and as it is written
        m_filledAt[place] = m_through;
        if (since == kNever || m_caches <= 0)
            return 0;
        return std::clamp((m_through - since) / m_caches - 1, 0.0, 1.0);
    }

private:
    static constexpr double kNever = -1;

    double m_caches;
    double m_through = 0;
    std::vector<double> m_filledAt; ///< by place: what had gone through then
};

} // namespace shardscope::plan
