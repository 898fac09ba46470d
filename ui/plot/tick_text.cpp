// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/tick_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardscope::ui {

namespace {

struct Unit {
    double size;
    const char* name;
};
constexpr std::array<Unit, 4> kTimeUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1, "ns"}}};
constexpr std::array<Unit, 4> kByteUnits{
    {{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024, "KiB"}, {1, "B"}}};

template <std::size_t N>
QString tickText(double value, double step, double largest, const std::array<Unit, N>& units) {
    std::size_t u = 0;
    while (u + 1 < N && largest < units[u].size)
        ++u;
    const double inUnit = step / units[u].size;
    int digits = 0;
    for (double s = inUnit; digits < 6 && std::abs(s - std::round(s)) > 1e-6 * s; s *= 10)
        ++digits;
    if (value == 0)
        digits = 0;
    return QString::number(value / units[u].size, 'f', digits) + QLatin1Char(' ') +
           QString::fromUtf8(units[u].name);
}

} // namespace

double roundStep(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(std::max(least, 1e-9))));
    for (const double m : {1.0, 2.0, 5.0})
        if (power * m >= least)
            return power * m;
    return power * 10;
}

double roundByteStep(double least) {
    for (std::size_t u = kByteUnits.size(); u-- > 0;)
        if (least <= 512 * kByteUnits[u].size) {
            const double step = std::max(1.0, roundStep(least / kByteUnits[u].size));
            return step > 512 ? 512 * kByteUnits[u].size : step * kByteUnits[u].size;
        }
    return roundStep(least / kByteUnits[0].size) * kByteUnits[0].size;
}

QString timeTickText(double t, double step, double largest) {
    return tickText(t, step, largest, kTimeUnits);
}

QString byteTickText(double bytes, double step, double largest) {
    return bytes == 0 ? QStringLiteral("0") : tickText(bytes, step, largest, kByteUnits);
}

} // namespace shardscope::ui
