// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QList>
#include <QString>

#include <nlohmann/json.hpp>

#include "app/replay/validation.h"
#include "sim_engine/base/result.h"

namespace shardscope::app {

/// One configuration that was run on a board and predicted without it.
struct ValidationRecord {
    QString board;
    QString model; ///< the file's name
    nlohmann::ordered_json config;
    Pairing figures;
    QDateTime when;
};

/// {"board", "model", "when", "config", "measured", "predicted"}.
nlohmann::ordered_json toJson(const ValidationRecord& record);

/// The records of a document of `shardscope validate --json`. BadInput, naming `where`, when one of
/// them is no such record: then none is taken.
base::Result<QList<ValidationRecord>>
validationsFromJson(const nlohmann::ordered_json& document, const QString& where);

/// Errors of these records together.
ValidationErrors errorsOf(const QList<ValidationRecord>& records);

} // namespace shardscope::app
