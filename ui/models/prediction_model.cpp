// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/prediction_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/kit/chrome.h"
#include "ui/models/figures.h"

namespace shardscope::ui {
namespace {

using analyze::Limits;
using analyze::RunLimits;
using model::PassKind;

constexpr double kGood = 0.07; ///< the error that a prediction may have and still be trusted

QString boundName(const Limits& limits) {
    const std::string_view text = analyze::boundText(limits.bound());
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString percentText(double share) {
    return QStringLiteral("%1%2 %")
        .arg(share < 0 ? QStringLiteral("\u2212") : QStringLiteral("+"))
        .arg(std::abs(share) * 100, 0, 'f', std::abs(share) < 0.1 ? 1 : 0);
}

double offBy(double measured, std::optional<double> predicted) {
    if (!predicted || measured <= 0)
        return std::numeric_limits<double>::quiet_NaN();
    return *predicted / measured - 1;
}

/// Rates are measured too: what lies this little under the floor stands on it.
constexpr double kAtFloor = 0.02;

QString gapText(const Limits& limits) {
    const double gap = limits.gap();
    if (gap < -kAtFloor)
        return PredictionModel::tr("from cache");
    return gap < 0.005 ? PredictionModel::tr("at the floor") : percentText(gap);
}

/// What most of the run is spent in.
const Limits& heaviest(const RunLimits& limits, PassKind& pass) {
    pass = PassKind::Encode;
    for (std::size_t i = 0; i < limits.passes.size(); ++i)
        if (limits.passes[i].took > limits.of(pass).took)
            pass = static_cast<PassKind>(i);
    return limits.of(pass);
}

} // namespace

PredictionModel::PredictionModel(QObject* parent) : QAbstractTableModel(parent) {}

void PredictionModel::addPhase(
    const QString& name, const Limits& measured, const Limits* predicted, double parts) {
    if (measured.took <= 0)
        return;
    Row row;
    row.off =
        offBy(measured.took, predicted ? std::optional<double>(predicted->took) : std::nullopt);
    row.cells[Phase] = name;
    row.cells[Measured] = msText(measured.took / parts);
    if (predicted)
        row.cells[Predicted] = msText(predicted->took / parts);
    if (!std::isnan(row.off))
        row.cells[OffBy] = percentText(row.off);
    row.cells[Floor] = msText(measured.floor() / parts);
    row.cells[BoundBy] = boundName(measured);
    row.cells[Gap] = gapText(measured);
    m_rows.push_back(std::move(row));
}

void PredictionModel::addFigure(
    const QString& name, double measured, std::optional<double> predicted,
    QString (*text)(double)) {
    Row row;
    row.off = offBy(measured, predicted);
    row.cells[Phase] = name;
    row.cells[Measured] = text(measured);
    if (predicted)
        row.cells[Predicted] = text(*predicted);
    if (!std::isnan(row.off))
        row.cells[OffBy] = percentText(row.off);
    m_rows.push_back(std::move(row));
}

void PredictionModel::setFacts(const PredictionFacts& facts) {
    beginResetModel();
    m_rows.clear();
    if (facts.limits) {
        const auto phase = [&](PassKind pass, const QString& name, double parts) {
            addPhase(
                name, facts.limits->of(pass),
                facts.predictedLimits ? &facts.predictedLimits->of(pass) : nullptr, parts);
        };
        phase(PassKind::Encode, tr("Encode, with mel"), 1);
        phase(PassKind::Cross, tr("Cross KV"), 1);
        phase(PassKind::Prefill, tr("Prefill"), 1);
        phase(
            PassKind::Decode, tr("Decode, a token"),
            static_cast<double>(std::max<std::int64_t>(1, facts.limits->decodeSteps)));
        addPhase(
            tr("Whole run"), facts.limits->run,
            facts.predictedLimits ? &facts.predictedLimits->run : nullptr, 1);
    }
    const auto& p = facts.predicted;
    const auto of = [&p](auto member) {
        return p ? std::optional<double>(static_cast<double>((*p).*member)) : std::nullopt;
    };
    using analyze::Summary;
    addFigure(tr("First token"), facts.measured.firstTokenMs, of(&Summary::firstTokenMs), msText);
    addFigure(tr("Stall"), facts.measured.stallMs, of(&Summary::stallMs), msText);
    addFigure(
        tr("Peak RAM (arena)"), static_cast<double>(facts.measured.arenaPeak),
        of(&Summary::arenaPeak), bytesText);
    addFigure(
        tr("Bytes read"), static_cast<double>(facts.measured.bytesRead), of(&Summary::bytesRead),
        bytesText);
    endResetModel();
}

int PredictionModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int PredictionModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PredictionModel::data(const QModelIndex& index, int role) const {
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const bool isWord = index.column() == Phase || index.column() == BoundBy;
    switch (role) {
    case Qt::DisplayRole:
        return row.cells[index.column()];
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (isWord ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::ForegroundRole:
        if (index.column() == OffBy && !std::isnan(row.off))
            return std::abs(row.off) <= kGood ? chrome().good : chrome().warning;
        return {};
    default:
        return {};
    }
}

QVariant PredictionModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    static const char* const kNames[] = {
        QT_TR_NOOP("Part"),  QT_TR_NOOP("Measured"), QT_TR_NOOP("Predicted"),  QT_TR_NOOP("Off by"),
        QT_TR_NOOP("Floor"), QT_TR_NOOP("Bound by"), QT_TR_NOOP("Above floor")};
    static const char* const kHelp[] = {
        QT_TR_NOOP("A part of the run."),
        QT_TR_NOOP("By the events of the run."),
        QT_TR_NOOP("Planned and simulated for the same settings and as many tokens."),
        QT_TR_NOOP("The prediction against what was measured."),
        QT_TR_NOOP("What reads take at the storage's rate, or ops at the rates of memory and "
                   "compute: the longer of the two."),
        QT_TR_NOOP("Which of storage, memory and compute sets the floor."),
        QT_TR_NOOP("How far the phase is from what physics allows; \"from cache\" where reads "
                   "were faster than the storage.")};
    const bool isWord = section == Phase || section == BoundBy;
    switch (role) {
    case Qt::DisplayRole:
        return tr(kNames[section]);
    case Qt::ToolTipRole:
        return tr(kHelp[section]);
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (isWord ? Qt::AlignLeft : Qt::AlignRight));
    default:
        return {};
    }
}

QString boundSentence(const RunLimits& limits) {
    PassKind pass;
    const Limits& most = heaviest(limits, pass);
    const char* const kNames[] = {
        QT_TRANSLATE_NOOP("bound", "Encoding"), QT_TRANSLATE_NOOP("bound", "Cross KV"),
        QT_TRANSLATE_NOOP("bound", "Prefill"), QT_TRANSLATE_NOOP("bound", "Decoding")};
    const QString name = QCoreApplication::translate("bound", kNames[static_cast<int>(pass)]);
    const char* what = most.bound() == analyze::Bound::Storage
                           ? QT_TRANSLATE_NOOP("bound", "its reads alone take %1 of %2")
                       : most.bound() == analyze::Bound::Memory
                           ? QT_TRANSLATE_NOOP("bound", "moving its bytes alone takes %1 of %2")
                           : QT_TRANSLATE_NOOP("bound", "its arithmetic alone takes %1 of %2");
    return QStringLiteral("%1: %2").arg(
        QCoreApplication::translate("bound", "%1 is %2").arg(name, boundName(most)),
        QCoreApplication::translate("bound", what).arg(msText(most.floor()), msText(most.took)));
}

QString boundBadge(const RunLimits& limits) {
    PassKind pass;
    const Limits& most = heaviest(limits, pass);
    return QStringLiteral("%1, %2").arg(boundName(most), gapText(most));
}

} // namespace shardscope::ui
