// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

namespace shardscope::ui {

/// What an icon is drawn with; looked up when it is painted, so icons follow the theme.
enum class IconTone { Text, Muted, Accent, OnAccent, Warning, Error, Good };

/// One of our line icons ("play", "boards") in the colour of `tone`; checked tool buttons show it
/// in the accent colour.
QIcon icon(const QString& name, IconTone tone = IconTone::Text);

} // namespace shardscope::ui
