// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/ui_settings.h"

#include <QSettings>
#include <algorithm>

namespace shardscope::ui {
namespace {

constexpr const char* kThemeNames[] = {"auto", "light", "dark"};
constexpr const char* kThemeKey = "window/theme";
constexpr const char* kPointsKey = "window/font_points";

QString layoutKey(const QString& name) {
    return QStringLiteral("layout/") + name;
}

} // namespace

ThemeChoice UiSettings::theme() const {
    if (!m_persistent)
        return m_theme;
    const QString name = QSettings().value(QLatin1String(kThemeKey)).toString();
    for (int i = 0; i < 3; ++i)
        if (name == QLatin1String(kThemeNames[i]))
            return static_cast<ThemeChoice>(i);
    return ThemeChoice::Auto;
}

void UiSettings::setTheme(ThemeChoice choice) {
    m_theme = choice;
    if (m_persistent)
        QSettings().setValue(
            QLatin1String(kThemeKey), QLatin1String(kThemeNames[static_cast<int>(choice)]));
}

int UiSettings::fontPoints() const {
    if (!m_persistent)
        return m_points;
    return std::clamp(QSettings().value(QLatin1String(kPointsKey), kDefaultPoints).toInt(), 8, 14);
}

void UiSettings::setFontPoints(int points) {
    m_points = std::clamp(points, 8, 14);
    if (m_persistent)
        QSettings().setValue(QLatin1String(kPointsKey), m_points);
}

QByteArray UiSettings::layout(const QString& name) const {
    return m_persistent ? QSettings().value(layoutKey(name)).toByteArray() : QByteArray();
}

void UiSettings::setLayout(const QString& name, const QByteArray& state) {
    if (m_persistent)
        QSettings().setValue(layoutKey(name), state);
}

} // namespace shardscope::ui
