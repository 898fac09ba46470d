// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "device_agent/probes/test_file.h"
#include "sim_engine/plan/board_profile.h"

namespace shardscope::probes {

/// Reads of the test file, request by request. What the page cache served is never taken for the
/// speed of a device: a direct or buffered point exists only where the file was cold before
/// (mincore) and the kernel counted nearly all bytes as read from storage (read_bytes of
/// /proc/self/io). Several rounds of a point count together: the best median and rate, and the 99th
/// percentile of all.
class ReadMeter {
public:
    explicit ReadMeter(const TestFile& file);
    ~ReadMeter();
    ReadMeter(const ReadMeter&) = delete;
    ReadMeter& operator=(const ReadMeter&) = delete;

    /// Measures a point for about `seconds`, at least 8 requests. Direct requests go to places far
    /// from each other, buffered and cached ones follow each other as a loader's do. False where it
    /// cannot be told.
    bool measure(plan::ReadPath path, std::size_t bytes, int depth, double seconds);

    bool hasDirect() const { return m_direct >= 0; }
    std::vector<plan::ReadPoint> points() const;
    /// How far the medians of the rounds lie apart, over all points.
    double spread() const;

private:
    struct Sample {
        std::vector<double> seconds; ///< of each request
        double elapsed = 0;
        std::size_t requests = 0;
    };
    struct Point {
        plan::ReadPoint best;
        std::vector<double> seconds; ///< of all rounds
        std::vector<double> medians; ///< by round
    };
    std::optional<Sample> sample(plan::ReadPath path, std::size_t bytes, int depth, double seconds);
    Sample read(plan::ReadPath path, std::size_t bytes, int depth, double seconds) const;
    Point& pointOf(plan::ReadPath path, std::size_t bytes, int depth);

    const TestFile& m_file;
    int m_direct;
    std::vector<Point> m_points;
};

} // namespace shardscope::probes
