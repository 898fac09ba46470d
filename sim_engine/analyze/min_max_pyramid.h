// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of numbers that answer "least and greatest of each column between row i and row j" in
// O(log n): buckets of 16 rows, then four buckets each. Takes appends at O(1) a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardscope::analyze {

/// Thread-compatible.
template <std::size_t N>
class MinMaxPyramid {
public:
    using Row = std::array<std::int64_t, N>;
    struct Bounds {
        Row low;
        Row high;

        void include(const Row& row) { include(Bounds{row, row}); }
        void include(const Bounds& other) {
            for (std::size_t i = 0; i < N; ++i) {
                low[i] = std::min(low[i], other.low[i]);
                high[i] = std::max(high[i], other.high[i]);
            }
        }
    };
    static constexpr std::size_t kBase = 16;
    static constexpr std::size_t kFanOut = 4;

    std::size_t size() const { return m_rows.size(); }
    bool empty() const { return m_rows.empty(); }
    const Row& at(std::size_t i) const { return m_rows[i]; }
    const Row& back() const { return m_rows.back(); }

    void clear() {
        m_rows.clear();
        m_levels.clear();
    }

    void append(const Row& row) {
        m_rows.push_back(row);
        std::size_t span = kBase;
        for (std::size_t level = 0; m_rows.size() % span == 0; ++level, span *= kFanOut)
            closeBucket(level);
    }

    /// Forgets the rows from `count` on.
    void truncate(std::size_t count) {
        m_rows.resize(std::min(count, m_rows.size()));
        std::size_t span = kBase;
        for (auto& level : m_levels) {
            level.resize(std::min(level.size(), m_rows.size() / span));
            span *= kFanOut;
        }
    }

    void replace(std::size_t i, const Row& row) {
        m_rows[i] = row;
        std::size_t span = kBase;
        for (std::size_t level = 0; level < m_levels.size(); ++level, span *= kFanOut)
            if (i / span < m_levels[level].size())
                m_levels[level][i / span] = bucketOf(level, i / span);
    }

    /// Bounds over the rows [first, last), of which there is at least one.
    Bounds bounds(std::size_t first, std::size_t last) const {
        Bounds result{m_rows[first], m_rows[first]};
        for (std::size_t i = first; i < last;) {
            const auto [level, span] = largestBucket(i, last);
            if (span == 1)
                result.include(m_rows[i]);
            else
                result.include(m_levels[level][i / span]);
            i += span;
        }
        return result;
    }

private:
    struct Step {
        std::size_t level;
        std::size_t span; ///< rows; 1: a row by itself
    };

    Step largestBucket(std::size_t i, std::size_t last) const {
        Step step{0, 1};
        std::size_t span = kBase;
        for (std::size_t level = 0; level < m_levels.size(); ++level, span *= kFanOut) {
            if (i % span != 0 || i + span > last || i / span >= m_levels[level].size())
                break;
            step = {level, span};
        }
        return step;
    }

    void closeBucket(std::size_t level) {
        if (level == m_levels.size())
            m_levels.emplace_back();
        m_levels[level].push_back(bucketOf(level, m_levels[level].size()));
    }

    Bounds bucketOf(std::size_t level, std::size_t index) const {
        if (level == 0) {
            const std::size_t first = index * kBase;
            Bounds b{m_rows[first], m_rows[first]};
            for (std::size_t i = first + 1; i < first + kBase; ++i)
                b.include(m_rows[i]);
            return b;
        }
        const auto& below = m_levels[level - 1];
        Bounds b = below[index * kFanOut];
        for (std::size_t i = 1; i < kFanOut; ++i)
            b.include(below[index * kFanOut + i]);
        return b;
    }

    std::vector<Row> m_rows;
    std::vector<std::vector<Bounds>> m_levels;
};

} // namespace shardscope::analyze
