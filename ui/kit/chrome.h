// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and style of the window around the plots; the plots take theirs from ui/state/theme.h.
#pragma once

#include <QColor>
#include <QString>

class QApplication;

namespace shardscope::ui {

enum class ThemeChoice { Auto, Light, Dark };

struct Chrome {
    bool dark = false;
    QColor window;  ///< behind everything
    QColor surface; ///< cards, tables, plots
    QColor raised;  ///< buttons, hovered rows
    QColor border;
    QColor text;
    QColor muted; ///< second-rank text, readable
    QColor accent;
    QColor onAccent;
    QColor accentSoft; ///< selection, active tab
    QColor good, goodSoft;
    QColor warning, warningSoft;
    QColor error, errorSoft;

    static const Chrome& lightChrome();
    static const Chrome& darkChrome();
};

/// The colours in use. GUI thread only.
const Chrome& chrome();

/// Fusion with our palette, style sheet and font at `points`. Auto follows the lightness of the
/// palette that the desktop gave the program.
void applyChrome(QApplication& app, ThemeChoice choice, int points);

/// Loads the bundled fonts once; the family name, or an empty one where they cannot be read.
QString bundledFontFamily();

} // namespace shardscope::ui
