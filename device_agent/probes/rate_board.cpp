// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/rate_board.h"

#include <algorithm>

namespace shardscope::probes {
namespace {

double medianOf(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

double Rounds::best() const {
    return m_seconds.empty() ? 0 : *std::min_element(m_seconds.begin(), m_seconds.end());
}

double Rounds::spread() const {
    const double least = best();
    return least > 0 ? medianOf(m_seconds) / least - 1 : 0;
}

double Rounds::medianAgainst(const Rounds& other) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(m_seconds.size(), other.m_seconds.size()); ++i)
        ratios.push_back(m_seconds[i] / other.m_seconds[i]);
    return medianOf(std::move(ratios));
}

void RateBoard::add(plan::KernelKey key, bool streamed, double operations, double seconds) {
    const auto found = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) {
        return row.key == key && row.streamed == streamed;
    });
    Row& row =
        found == m_rows.end() ? m_rows.emplace_back(Row{key, streamed, operations, {}}) : *found;
    row.rounds.add(seconds);
}

double RateBoard::rate(plan::KernelKey key, bool streamed) const {
    for (const Row& row : m_rows)
        if (row.key == key && row.streamed == streamed && row.rounds.best() > 0)
            return row.operations / row.rounds.best();
    return 0;
}

void RateBoard::writeTo(plan::BoardProfile& board) const {
    for (const Row& row : m_rows) {
        plan::KernelRate& to = board.kernels[static_cast<std::size_t>(row.key.kernel)]
                                            [static_cast<std::size_t>(row.key.dtype)];
        (row.streamed ? to.streamed : to.cached) = rate(row.key, row.streamed);
    }
}

double RateBoard::spread() const {
    std::vector<double> spreads;
    for (const Row& row : m_rows)
        spreads.push_back(row.rounds.spread());
    return medianOf(std::move(spreads));
}

} // namespace shardscope::probes
