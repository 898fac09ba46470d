// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/validations.h"

#include <QCryptographicHash>

#include "app/store/database.h"
#include "app/store/run_store.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using Json = nlohmann::ordered_json;

namespace {

/// The same board, model and configuration: a newer measurement takes the place of an older one.
QString keyOf(const ValidationRecord& r) {
    const std::string text = r.board.toStdString() + "\n" + r.model.toStdString() + "\n" +
                             r.config.dump(-1, ' ', false, Json::error_handler_t::replace);
    return QString::fromLatin1(
        QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256)
            .toHex());
}

QString textOf(const Json& json) {
    return QString::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::optional<ValidationRecord> recordOf(const Json& json) {
    if (!json.is_object())
        return std::nullopt;
    ValidationRecord r;
    for (const auto& [key, field] : {std::pair{"board", &r.board}, {"model", &r.model}}) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_string())
            return std::nullopt;
        *field = QString::fromStdString(found->get<std::string>());
    }
    const Json nothing;
    const auto part = [&](const char* key) -> const Json& {
        const auto found = json.find(key);
        return found == json.end() ? nothing : *found;
    };
    const auto measured = figuresFromJson(part("measured"));
    const auto predicted = figuresFromJson(part("predicted"));
    if (!measured || !predicted || !plan::configFromJson(part("config")))
        return std::nullopt;
    r.config = part("config");
    r.figures = {*measured, *predicted};
    if (part("when").is_string())
        r.when = QDateTime::fromString(
            QString::fromStdString(part("when").get<std::string>()), Qt::ISODate);
    if (!r.when.isValid())
        return std::nullopt;
    return r;
}

} // namespace

Json toJson(const ValidationRecord& r) {
    return {
        {"board", r.board.toStdString()},
        {"model", r.model.toStdString()},
        {"when", r.when.toUTC().toString(Qt::ISODate).toStdString()},
        {"config", r.config},
        {"measured", toJson(r.figures.measured)},
        {"predicted", toJson(r.figures.predicted)}};
}

Result<QList<ValidationRecord>> validationsFromJson(const Json& document, const QString& where) {
    const auto bad = [&](const std::string& what) {
        return Error{
            ErrorCode::BadInput, what, where.toStdString(),
            "give a recording (.sst) or what `shardscope validate --json` has printed"};
    };
    if (!document.is_object() || !document.contains("runs") || !document["runs"].is_array())
        return bad("no results of a validation");
    QList<ValidationRecord> all;
    for (const Json& one : document["runs"]) {
        auto record = recordOf(one);
        if (!record)
            return bad("result " + std::to_string(all.size() + 1) + " cannot be read");
        all.append(std::move(*record));
    }
    return all;
}

ValidationErrors errorsOf(const QList<ValidationRecord>& records) {
    std::vector<Pairing> pairs;
    for (const ValidationRecord& r : records)
        pairs.push_back(r.figures);
    return errorsOf(pairs);
}

Result<int> RunStore::saveValidations(const QList<ValidationRecord>& records) {
    Transaction all(*m_database);
    if (!all.begun())
        return all.begun().error();
    int changed = 0;
    for (const ValidationRecord& r : records) {
        auto done = m_database->run(
            QStringLiteral("INSERT INTO validations (id, board, model, made, config, measured, "
                           "predicted) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                           "made = excluded.made, measured = excluded.measured, "
                           "predicted = excluded.predicted WHERE excluded.made > validations.made"),
            {keyOf(r), r.board, r.model, r.when.toSecsSinceEpoch(), textOf(r.config),
             textOf(toJson(r.figures.measured)), textOf(toJson(r.figures.predicted))});
        if (!done)
            return done.error();
        changed += std::max(0, done->numRowsAffected());
    }
    if (Status status = all.commit(); !status)
        return status.error();
    emit boardsChanged();
    return changed;
}

Result<QList<ValidationRecord>>
RunStore::validations(const QString& board, const QString& model) const {
    auto rows = m_database->run(
        QStringLiteral("SELECT board, model, made, config, measured, predicted FROM validations "
                       "WHERE board = ? AND (? = '' OR model = ?) ORDER BY made, id"),
        {board, model.isNull() ? QStringLiteral("") : model,
         model.isNull() ? QStringLiteral("") : model});
    if (!rows)
        return rows.error();
    QList<ValidationRecord> all;
    while (rows->next()) {
        const auto json = [&](int column) {
            return Json::parse(rows->value(column).toString().toStdString(), nullptr, false);
        };
        ValidationRecord r;
        r.board = rows->value(0).toString();
        r.model = rows->value(1).toString();
        r.when = QDateTime::fromSecsSinceEpoch(rows->value(2).toLongLong());
        r.config = json(3);
        const auto measured = figuresFromJson(json(4)), predicted = figuresFromJson(json(5));
        if (measured && predicted) { // one of another version says nothing here
            r.figures = {*measured, *predicted};
            all.append(std::move(r));
        }
    }
    return all;
}

std::optional<ValidationErrors> RunStore::predictionErrors(const QString& board) const {
    const auto known = validations(board);
    if (!known || known->isEmpty())
        return std::nullopt;
    return errorsOf(*known);
}

} // namespace shardscope::app
