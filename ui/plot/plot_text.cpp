// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/plot_text.h"

#include <QLocale>

#include "sim_engine/base/format.h"

namespace shardscope::ui {

using base::Bytes;
using base::Nanos;

QString bytesText(std::int64_t bytes) {
    return QString::fromStdString(base::bytesText(Bytes(bytes)));
}

QString spanText(Nanos span) {
    return QString::fromStdString(base::timeText(span));
}

QString momentText(Nanos t) {
    if (t.value >= 1'000'000'000)
        return QString::fromStdString(base::formatted("%.6f s", base::seconds(t)));
    if (t.value >= 1'000'000)
        return QString::fromStdString(base::formatted("%.3f ms", base::milliseconds(t)));
    return QString::fromStdString(base::formatted("%.3f us", t.real() * 1e-3));
}

QString rateOf(std::int64_t bytes, Nanos span) {
    const double seconds = span.value > 0 ? base::seconds(span) : 1e-9;
    return QString::fromStdString(base::rateText(static_cast<double>(bytes) / seconds));
}

QString signedBytesText(std::int64_t bytes) {
    const QString size = bytesText(bytes < 0 ? -bytes : bytes);
    return (bytes < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + size;
}

QString countText(std::uint32_t count) {
    return QStringLiteral("\u00d7") + QLocale::c().toString(count);
}

QString rangeText(Nanos low, Nanos high) {
    const QString first = spanText(low), second = spanText(high);
    return first == second ? first : first + QStringLiteral(" \u2026 ") + second;
}

QString regionText(model::Region region) {
    const std::string_view name = model::regionName(region);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QMargins plotMargins(const QFontMetrics& metrics, bool timeAxis) {
    const int left = metrics.horizontalAdvance(QStringLiteral("0000 MiB")) + 12;
    const int right = metrics.horizontalAdvance(QStringLiteral("0.00 s")) / 2 + 6;
    const int top = metrics.height() + 10;
    // Half a label of the value axis hangs below the chart.
    const int bottom = timeAxis ? metrics.height() + 9 : metrics.height() / 2 + 1;
    return {left, top, right, bottom};
}

} // namespace shardscope::ui
