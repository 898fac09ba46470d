// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace shardscope::audio {

/// Four frames side by side. Every operation is lane by lane, so a frame's result does not depend
/// on its lane or its neighbours. GCC and clang map it to SSE, NEON, or plain code.
using Lanes = float __attribute__((vector_size(16)));
constexpr int kLanes = 4;

struct ComplexLanes {
    Lanes re, im;
};

/// Power spectrum of 400 real samples: a complex transform of the 200 pairs of even and odd samples
/// (Stockham autosort, radices 5, 5, 4, 2), then taken apart. Thread-safe once constructed.
class Fft400 {
public:
    static constexpr int kPairs = 200;
    static constexpr int kBins = 201;

    Fft400();

    /// `data`: kPairs pairs (x[2n], x[2n + 1]), overwritten; `work`: kPairs more.
    /// power[k] = |sum over j of x[j] e^(-2 pi i j k / 400)|^2, k < kBins.
    void power(ComplexLanes* data, ComplexLanes* work, Lanes* power) const;

private:
    struct Factor {
        float re, im;
    };

    std::array<Factor, 40 * 4> m_first;     ///< e^(-2 pi i p k / 200) at [p * 4 + k - 1]
    std::array<Factor, 8 * 4> m_second;     ///< the same of 40
    std::array<Factor, 2 * 3> m_third;      ///< the same of 8
    std::array<Factor, kPairs / 2> m_split; ///< e^(-2 pi i k / 400)
};

} // namespace shardscope::audio
