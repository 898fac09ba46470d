// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/kit/ui_settings.h"

class QButtonGroup;
class QComboBox;

namespace shardscope::ui {

/// Theme, size of the text, and where data is kept.
class SettingsPage : public QWidget {
    Q_OBJECT
public:
    SettingsPage(UiSettings* settings, const QString& dataFolder, QWidget* parent = nullptr);
    /// Shows the values as they are now.
    void refresh();

signals:
    /// Theme or text size are others now.
    void appearanceChanged();
    void restoreLayoutClicked();

private:
    QWidget* makeAppearance();
    QWidget* makeData(const QString& folder);
    QWidget* makeAbout();

    UiSettings* m_settings;
    QButtonGroup* m_theme;
    QComboBox* m_points;
};

} // namespace shardscope::ui
