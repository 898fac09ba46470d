// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardscope::analyze {

/// The value below which `share` (0..1) of the values lie; reorders them. 0 for none.
inline double quantile(std::vector<double>& values, double share) {
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

inline double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values)
        sum += v;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

inline double median(std::vector<double>& values) {
    return quantile(values, 0.5);
}

struct Weighted {
    double value = 0, weight = 0;
};

/// The value at which half of the weight is reached; 0 for none.
inline double weightedMedian(std::vector<Weighted> all) {
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.value < b.value; });
    double sum = 0, below = 0;
    for (const Weighted& w : all)
        sum += w.weight;
    for (const Weighted& w : all)
        if ((below += w.weight) * 2 >= sum)
            return w.value;
    return 0;
}

} // namespace shardscope::analyze
