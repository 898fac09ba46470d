// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include "ui/kit/chrome.h"

namespace shardscope::ui {

/// What the window remembers: QSettings under the name of the application, or nothing at all for
/// pictures and tests that must not depend on who runs them. GUI thread only.
class UiSettings {
public:
    explicit UiSettings(bool persistent) : m_persistent(persistent) {}

    ThemeChoice theme() const;
    void setTheme(ThemeChoice choice);
    int fontPoints() const; ///< 8 to 14
    void setFontPoints(int points);
    QByteArray layout(const QString& name) const;
    void setLayout(const QString& name, const QByteArray& state);

    static constexpr int kDefaultPoints = 10;

private:
    bool m_persistent;
    ThemeChoice m_theme = ThemeChoice::Auto;
    int m_points = kDefaultPoints;
};

} // namespace shardscope::ui
