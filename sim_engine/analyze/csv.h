// SPDX-License-Identifier: GPL-3.0-or-later
// What a view shows, as a table: RFC 4180 text with a header line, times in ns, sizes in bytes.
#pragma once

#include <string>

#include "sim_engine/analyze/run_index.h"
#include "sim_engine/trace/legend.h"

namespace shardscope::analyze {

/// Every step of the arena within [begin, end]: its time and the bytes by region.
std::string memoryCsv(const RunIndex& index, base::Nanos begin, base::Nanos end);

/// Every life that touches [begin, end]: who, where, from when to when, and why.
std::string
arenaCsv(const RunIndex& index, const trace::Legend& legend, base::Nanos begin, base::Nanos end);

/// Every span of the lanes that begins within [begin, end).
std::string
lanesCsv(const RunIndex& index, const trace::Legend& legend, base::Nanos begin, base::Nanos end);

/// Every token that ends within [begin, end].
std::string tokensCsv(const RunIndex& index, base::Nanos begin, base::Nanos end);

} // namespace shardscope::analyze
