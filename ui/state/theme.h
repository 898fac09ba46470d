// SPDX-License-Identifier: GPL-3.0-or-later
// Every colour that the charts use, in one table.
#pragma once

#include <array>
#include <cstddef>

#include <QColor>
#include <QPalette>

#include "sim_engine/model/graph.h"

namespace shardscope::ui {

struct Theme {
    bool isDark = false;

    QColor background; ///< behind charts
    QColor surface;    ///< tool tips, chips
    QColor grid;
    QColor axis;
    QColor text;
    QColor textMuted;
    QColor accent; ///< selection, links
    QColor cursor;
    QColor selection; ///< fill of a selected range, with alpha
    QColor shade;     ///< over what a filter leaves out, with alpha
    QColor hover;     ///< outline of what is hovered, here and elsewhere
    QColor warning;   ///< a violated budget
    QColor budget;    ///< the budget line
    QColor rss;       ///< the RSS line
    QColor prediction;
    QColor freeSpace; ///< arena that holds nothing

    std::array<QColor, model::kRegionCount> region; ///< by model::Region
    std::array<QColor, model::kOpKindCount> op;     ///< by model::OpKind
    QColor compute;                                 ///< all ops together
    QColor read;
    QColor stall;
    QColor other;

    QColor of(model::Region r) const { return region[static_cast<std::size_t>(r)]; }
    QColor of(model::OpKind k) const { return op[static_cast<std::size_t>(k)]; }
    /// `colour` as it looks where it is present only some of the time: opaque, so it draws fast.
    QColor faint(const QColor& colour) const;
    /// Black or white, whichever reads better on `fill`.
    static QColor textOn(const QColor& fill);

    bool operator==(const Theme&) const = default;

    static Theme light();
    static Theme dark();
    /// The one that goes with the palette of the application.
    static Theme fromPalette(const QPalette& palette);
};

} // namespace shardscope::ui
