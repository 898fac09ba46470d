// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QString>
#include <QStringList>

#include <nlohmann/json.hpp>

#include "app/replay/run_content.h"
#include "sim_engine/base/units.h"

namespace shardscope::app {

/// What somebody wrote about a span of time of a run.
struct RangeNote {
    base::Nanos begin, end; ///< from the begin of the run; equal for a moment
    QString text;

    bool operator==(const RangeNote&) const = default;
};

/// A run as lists show it; its events stand in its recording.
struct RunRecord {
    QString uuid;
    QString board;
    QString model;
    QString audio; ///< the file's name
    QDateTime started;
    RunState state = RunState::Running;
    QString errorLine; ///< why it failed or is partial
    nlohmann::ordered_json config;
    nlohmann::ordered_json result; ///< null unless the run is done
    QString planHash;
    qint64 budgetBytes = 0; ///< 0: none
    qint64 peakBytes = 0;   ///< of the arena
    qint64 tokens = 0;
    double msPerToken = 0;
    double totalMs = 0;
    QString text;
    QString notes;
    QStringList tags;
    bool starred = false;
    QByteArray thumbnail; ///< PNG; empty until the window has drawn one
};

/// Fills in what the frames of a run say: names, figures, text and how it ended.
void describe(RunRecord& record, const RunContent& content);

} // namespace shardscope::app
