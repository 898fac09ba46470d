// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/audio/fft400.h"

#include <cmath>
#include <numbers>

namespace shardscope::audio {

namespace {

ComplexLanes operator+(ComplexLanes a, ComplexLanes b) {
    return {a.re + b.re, a.im + b.im};
}
ComplexLanes operator-(ComplexLanes a, ComplexLanes b) {
    return {a.re - b.re, a.im - b.im};
}
ComplexLanes timesMinusI(ComplexLanes a) {
    return {a.im, -a.re};
}

template <typename Factor>
ComplexLanes times(ComplexLanes a, Factor w) {
    return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}

void transform(ComplexLanes (&a)[2]) {
    const ComplexLanes sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
}

void transform(ComplexLanes (&a)[4]) {
    const ComplexLanes s02 = a[0] + a[2], d02 = a[0] - a[2];
    const ComplexLanes s13 = a[1] + a[3], d13 = timesMinusI(a[1] - a[3]);
    a[0] = s02 + s13;
    a[1] = d02 + d13;
    a[2] = s02 - s13;
    a[3] = d02 - d13;
}

void transform(ComplexLanes (&a)[5]) {
    constexpr float kC1 = 0.30901699437494742f;  // cos(2 pi / 5)
    constexpr float kC2 = -0.80901699437494742f; // cos(4 pi / 5)
    constexpr float kS1 = 0.95105651629515357f;  // sin(2 pi / 5)
    constexpr float kS2 = 0.58778525229247313f;  // sin(4 pi / 5)
    const ComplexLanes s14 = a[1] + a[4], d14 = timesMinusI(a[1] - a[4]);
    const ComplexLanes s23 = a[2] + a[3], d23 = timesMinusI(a[2] - a[3]);
    const ComplexLanes e1{
        a[0].re + kC1 * s14.re + kC2 * s23.re, a[0].im + kC1 * s14.im + kC2 * s23.im};
    const ComplexLanes e2{
        a[0].re + kC2 * s14.re + kC1 * s23.re, a[0].im + kC2 * s14.im + kC1 * s23.im};
    const ComplexLanes o1{kS1 * d14.re + kS2 * d23.re, kS1 * d14.im + kS2 * d23.im};
    const ComplexLanes o2{kS2 * d14.re - kS1 * d23.re, kS2 * d14.im - kS1 * d23.im};
    a[0] = a[0] + s14 + s23;
    a[1] = e1 + o1;
    a[2] = e2 + o2;
    a[3] = e2 - o2;
    a[4] = e1 - o1;
}

/// One Stockham pass: transforms of length R within sub-transforms of length `Radix * M`, of which
/// `Stride` are interleaved. `w` may be null where all factors are 1 (M = 1).
template <int Radix, int M, int Stride, typename Factor>
void pass(const ComplexLanes* x, ComplexLanes* y, const Factor* w) {
    for (int p = 0; p < M; ++p)
        for (int q = 0; q < Stride; ++q) {
            ComplexLanes a[Radix];
            for (int j = 0; j < Radix; ++j)
                a[j] = x[q + Stride * (p + M * j)];
            transform(a);
            ComplexLanes* const out = y + q + Stride * Radix * p;
            out[0] = a[0];
            for (int k = 1; k < Radix; ++k)
                out[Stride * k] = M == 1 ? a[k] : times(a[k], w[p * (Radix - 1) + k - 1]);
        }
}

template <typename Factor>
Factor rootOfUnity(int numerator, int denominator) {
    const double angle = -2.0 * std::numbers::pi * numerator / denominator;
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

template <typename Factors>
void fill(Factors& factors, int radix, int length) {
    for (int p = 0; p < length / radix; ++p)
        for (int k = 1; k < radix; ++k)
            factors[static_cast<std::size_t>(p * (radix - 1) + k - 1)] =
                rootOfUnity<typename Factors::value_type>(p * k, length);
}

Lanes squared(ComplexLanes a) {
    return a.re * a.re + a.im * a.im;
}

} // namespace

Fft400::Fft400() {
    fill(m_first, 5, 200);
    fill(m_second, 5, 40);
    fill(m_third, 4, 8);
    for (int k = 0; k < kPairs / 2; ++k)
        m_split[static_cast<std::size_t>(k)] = rootOfUnity<Factor>(k, 2 * kPairs);
}

void Fft400::power(ComplexLanes* data, ComplexLanes* work, Lanes* power) const {
    pass<5, 40, 1>(data, work, m_first.data());
    pass<5, 8, 5>(work, data, m_second.data());
    pass<4, 2, 25>(data, work, m_third.data());
    pass<2, 1, 100>(work, data, static_cast<const Factor*>(nullptr));

    // z = even + i odd, so even and odd are the conjugate-symmetric parts of its transform.
    const Lanes even0 = data[0].re, odd0 = data[0].im;
    power[0] = (even0 + odd0) * (even0 + odd0);
    power[kPairs] = (even0 - odd0) * (even0 - odd0);
    power[kPairs / 2] = squared(data[kPairs / 2]);
    for (int k = 1; k < kPairs / 2; ++k) {
        const ComplexLanes a = data[k];
        const ComplexLanes b{data[kPairs - k].re, -data[kPairs - k].im};
        const ComplexLanes even = a + b; // twice the true value, as is odd
        const ComplexLanes odd = times(timesMinusI(a - b), m_split[static_cast<std::size_t>(k)]);
        power[k] = squared(even + odd) * 0.25f;
        power[kPairs - k] = squared(even - odd) * 0.25f;
    }
}

} // namespace shardscope::audio
