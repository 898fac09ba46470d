// SPDX-License-Identifier: GPL-3.0-or-later
// Random operands for the tests of the kernels, weights at odd addresses.
#pragma once

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device_agent/engine/kernels/reference.h"
#include "device_agent/engine/kernels/vector_targets.h"
#include "device_agent/engine/quantize/quantize_row.h"

namespace shardscope::engine::kernels {

inline std::vector<float> randomFloats(std::size_t count, unsigned seed, float deviation = 1.0f) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0.0f, deviation);
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(engine); });
    return values;
}

inline constexpr WeightType kWeightTypes[] = {WeightType::F32,  WeightType::F16,  WeightType::Q8_0,
                                              WeightType::Q4_0, WeightType::Q4_1, WeightType::Q5_0,
                                              WeightType::Q5_1};

/// Whether rows of `cols` elements are whole blocks.
inline bool canHold(WeightType type, std::size_t cols) {
    return cols % weightBlock(type) == 0;
}

/// Floats as weights at an address that is no multiple of two.
class OddBytes {
public:
    OddBytes(WeightType type, const std::vector<float>& values)
        : m_bytes(weightBytes(type, values.size()) + 2) {
        m_offset = reinterpret_cast<std::uintptr_t>(m_bytes.data()) % 2 == 0 ? 1 : 0;
        if (weightBlock(type) > 1) {
            constexpr model::DType kNames[] = {
                model::DType::F32,  model::DType::F16,  model::DType::Q8_0, model::DType::Q4_0,
                model::DType::Q4_1, model::DType::Q5_0, model::DType::Q5_1};
            const auto name = kNames[static_cast<std::size_t>(type)];
            quantizeRow(name, values.data(), values.size(), m_bytes.data() + m_offset);
            return;
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::byte* const at = m_bytes.data() + m_offset + weightBytes(type, i);
            const std::uint16_t half = reference::floatToHalf(values[i]);
            if (type == WeightType::F32)
                std::memcpy(at, &values[i], sizeof(float));
            else
                std::memcpy(at, &half, sizeof half);
        }
    }
    const std::byte* data() const { return m_bytes.data() + m_offset; }

private:
    std::vector<std::byte> m_bytes;
    std::size_t m_offset = 0;
};

/// Greatest distance, in units of max(1, |wanted|); NaN counts as infinite.
inline double distance(const std::vector<float>& got, const std::vector<float>& wanted) {
    double most = got.size() == wanted.size() ? 0.0 : INFINITY;
    for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
        const double w = static_cast<double>(wanted[i]);
        const double error =
            std::fabs(static_cast<double>(got[i]) - w) / std::max(1.0, std::fabs(w));
        most = error <= most ? most : std::isnan(error) ? INFINITY : error;
    }
    return most;
}

inline bool sameBits(const float* a, const float* b, std::size_t count) {
    return std::memcmp(a, b, count * sizeof(float)) == 0;
}

inline bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && sameBits(a.data(), b.data(), a.size());
}

/// Data rows named after the instruction sets of this machine, column `target`.
inline void addVectorTargets() {
    QTest::addColumn<std::size_t>("target");
    for (std::size_t i = 0; i < vectorTargetCount(); ++i)
        QTest::newRow(vectorTargetName(i)) << i;
}

/// Uses the data row's instruction set for the length of a test.
class VectorTargetOfRow {
public:
    VectorTargetOfRow() {
        useVectorTarget(
            *static_cast<std::size_t*>(QTest::qData("target", qMetaTypeId<std::size_t>())));
    }
    ~VectorTargetOfRow() { useVectorTarget(0); }
};

} // namespace shardscope::engine::kernels
