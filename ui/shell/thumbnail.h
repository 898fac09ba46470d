// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "sim_engine/trace/trace.h"

namespace shardscope::ui {

/// A small picture (PNG, transparent behind) of a run's memory over time; empty where it has none.
QByteArray thumbnailOf(const trace::Trace& trace);

} // namespace shardscope::ui
