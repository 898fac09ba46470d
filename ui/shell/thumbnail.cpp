// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/thumbnail.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>

#include "sim_engine/analyze/run_index.h"
#include "ui/state/theme.h"

namespace shardscope::ui {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 168;

} // namespace

QByteArray thumbnailOf(const trace::Trace& trace) {
    analyze::RunIndex index;
    index.update(trace);
    const auto& memory = index.memory();
    if (memory.empty() || index.end().value <= 0)
        return {};
    QImage image(kWidth, kHeight, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    // The light theme's hues read on dark as well.
    const Theme theme = Theme::light();
    const auto columns = memory.columns(base::Nanos(0), index.end(), kWidth, index.end());
    const double top = std::max(memory.peak().real(), trace.legend.budget.real()) * 1.04;
    const auto yOf = [top](std::int64_t bytes) {
        return kHeight - static_cast<double>(bytes) / top * kHeight;
    };
    for (int x = 0; x < static_cast<int>(columns.size()); ++x) {
        const auto& column = columns[static_cast<std::size_t>(x)];
        if (column.empty)
            continue;
        double below = kHeight;
        for (std::size_t region = 0; region < model::kRegionCount; ++region) {
            const double above = yOf(column.high[region]);
            if (above < below)
                painter.fillRect(QRectF(x, above, 1, below - above), theme.region[region]);
            below = std::min(below, above);
        }
    }
    if (trace.legend.budget.value > 0) {
        painter.setPen(QPen(theme.budget, 2, Qt::DashLine));
        const double y = yOf(trace.legend.budget.value);
        painter.drawLine(QPointF(0, y), QPointF(kWidth, y));
    }
    painter.end();
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return png;
}

} // namespace shardscope::ui
