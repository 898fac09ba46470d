// SPDX-License-Identifier: GPL-3.0-or-later
// A trace in the formats of other tools.
#pragma once

#include <optional>
#include <string_view>

#include <QIODevice>

#include "sim_engine/base/result.h"
#include "sim_engine/trace/trace.h"

namespace shardscope::app {

enum class ExportFormat {
    Perfetto, ///< Chrome trace event JSON: ui.perfetto.dev, chrome://tracing
    Csv,      ///< a line an event
};

std::optional<ExportFormat> exportFormatByName(std::string_view name);

/// Writes all of `trace` to an open device, piece by piece. Failed where the device refuses.
/// `process` names the run in viewers.
base::Status writeTrace(
    const trace::Trace& trace, ExportFormat format, std::string_view process, QIODevice& out);

} // namespace shardscope::app
