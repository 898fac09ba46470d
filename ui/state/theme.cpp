// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/state/theme.h"

#include <cmath>

namespace shardscope::ui {

namespace {

constexpr double kFaintShare = 0.42;
constexpr int kSelectionAlpha = 34;

int mixed(int a, int b, double shareOfA) {
    return static_cast<int>(a * shareOfA + b * (1 - shareOfA) + 0.5);
}

} // namespace

QColor Theme::faint(const QColor& colour) const {
    return QColor(
        mixed(colour.red(), background.red(), kFaintShare),
        mixed(colour.green(), background.green(), kFaintShare),
        mixed(colour.blue(), background.blue(), kFaintShare));
}

QColor Theme::textOn(const QColor& fill) {
    // Relative luminance of WCAG 2; at 0.179 black and white contrast equally.
    const auto linear = [](double c) {
        return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double luminance = 0.2126 * linear(fill.redF()) + 0.7152 * linear(fill.greenF()) +
                             0.0722 * linear(fill.blueF());
    return luminance > 0.179 ? QColor(0x14, 0x16, 0x1a) : QColor(Qt::white);
}

// Hues keep their meaning over all views: blue stays resident, orange comes from storage, red
// waits.
Theme Theme::light() {
    Theme t;
    t.background = "#ffffff";
    t.surface = "#f6f7f9";
    t.grid = "#ebedf0";
    t.axis = "#c3c8d0";
    t.text = "#1d2128";
    t.textMuted = "#636b78";
    t.accent = "#2563c9";
    t.cursor = "#3b424d";
    t.selection = QColor(37, 99, 201, kSelectionAlpha);
    t.shade = QColor(246, 247, 249, 170);
    t.hover = "#11151b";
    t.warning = "#c62f2f";
    t.budget = "#c62f2f";
    t.rss = "#2a2f38";
    t.prediction = "#5a3fb0";
    t.freeSpace = "#eef0f3";
    t.region = {QColor("#3d6eb4"), QColor("#eb9a4e"), QColor("#58ab6c"), QColor("#7e5fb0"),
                QColor("#46aebb"), QColor("#cf7d9f"), QColor("#9aa1ac")};
    t.op = {QColor("#cf7d9f"), QColor("#3d6eb4"), QColor("#7aaee3"),
            QColor("#7e5fb0"), QColor("#8e97a5"), QColor("#46aebb")};
    t.compute = "#3d6eb4";
    t.read = "#eb9a4e";
    t.stall = "#c53a36";
    t.other = "#b4bac4";
    return t;
}

Theme Theme::dark() {
    Theme t;
    t.isDark = true;
    t.background = "#1c1f24";
    t.surface = "#282c33";
    t.grid = "#2b3037";
    t.axis = "#4a515c";
    t.text = "#e4e7ec";
    t.textMuted = "#98a1ae";
    t.accent = "#6ea8fe";
    t.cursor = "#c9ced6";
    t.selection = QColor(110, 168, 254, kSelectionAlpha);
    t.shade = QColor(28, 31, 36, 165);
    t.hover = "#ffffff";
    t.warning = "#ff6b63";
    t.budget = "#ff6b63";
    t.rss = "#e9ecf1";
    t.prediction = "#c3a6ff";
    t.freeSpace = "#262a31";
    t.region = {QColor("#5b8fd9"), QColor("#e0914a"), QColor("#58b070"), QColor("#a384d4"),
                QColor("#45b0bd"), QColor("#d684a8"), QColor("#8b93a0")};
    t.op = {QColor("#d684a8"), QColor("#5b8fd9"), QColor("#8fc0f2"),
            QColor("#a384d4"), QColor("#7f8896"), QColor("#45b0bd")};
    t.compute = "#5b8fd9";
    t.read = "#e0914a";
    t.stall = "#f0605a";
    t.other = "#6d7582";
    return t;
}

Theme Theme::fromPalette(const QPalette& palette) {
    Theme t = palette.color(QPalette::Window).lightness() < 128 ? dark() : light();
    t.background = palette.color(QPalette::Base);
    t.accent = palette.color(QPalette::Highlight);
    t.selection = t.accent;
    t.selection.setAlpha(kSelectionAlpha);
    return t;
}

} // namespace shardscope::ui
