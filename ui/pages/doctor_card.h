// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace shardscope::ui {

/// What the doctor of a board has found, the worst first, each with what to do about it. `report`
/// is {"findings": [{"check", "severity", "what", "mend"}]} in JSON; null where it says nothing.
QWidget* doctorCard(const QString& report);

} // namespace shardscope::ui
