// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as the charts say them, and the margins that make the charts line up.
#pragma once

#include <QFontMetrics>
#include <QMargins>
#include <QString>

#include "sim_engine/base/units.h"
#include "sim_engine/model/graph.h"
#include "ui/state/theme.h"
#include "ui/state/time_state.h"

namespace shardscope::ui {

/// "4.7 MiB".
QString bytesText(std::int64_t bytes);
/// "3.21 ms".
QString spanText(base::Nanos span);
/// A moment, to the microsecond: "1.202 345 s", "12.345 ms".
QString momentText(base::Nanos t);
/// "48.0 MB/s": so many bytes in that time.
QString rateOf(std::int64_t bytes, base::Nanos span);
/// "+3.1 MiB", "-12.0 KiB".
QString signedBytesText(std::int64_t bytes);
/// "x 1 204": of how many a merged mark is made.
QString countText(std::uint32_t count);
/// "3.21 ms" or, where they differ, "1.02 ms to 3.21 ms".
QString rangeText(base::Nanos low, base::Nanos high);

/// "pinned weights".
QString regionText(model::Region region);

/// Margins of every chart that has a time axis, so that equal times stand at equal x.
QMargins plotMargins(const QFontMetrics& metrics, bool timeAxis);

} // namespace shardscope::ui
