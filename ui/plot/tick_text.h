// SPDX-License-Identifier: GPL-3.0-or-later
// Where ticks stand and what they say.
#pragma once

#include <QString>

namespace shardscope::ui {

/// A tick step of 1, 2 or 5 times a power of ten that is not below `least`.
double roundStep(double least);
/// A step that is round in B, KiB, MiB or GiB and not below `least`.
double roundByteStep(double least);
/// The label of a tick at `t` ns: all ticks of an axis have one unit and as many digits as their
/// step needs.
QString timeTickText(double t, double step, double largest);
/// The label of a tick at `bytes`.
QString byteTickText(double bytes, double step, double largest);

} // namespace shardscope::ui
