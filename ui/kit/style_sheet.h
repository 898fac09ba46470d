// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/kit/chrome.h"

namespace shardscope::ui {

/// The style sheet of the whole program. Widgets ask for a look by the dynamic property "look":
/// "primary", "flat" (buttons), "card", "panel" (frames), "title", "heading", "muted", "figure"
/// (labels), "error", "warning", "note" (banners), "chip".
QString styleSheetOf(const Chrome& colours, int points);

} // namespace shardscope::ui
