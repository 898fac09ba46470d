// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/runs_model.h"

#include <QFileInfo>
#include <QLocale>

#include "ui/models/figures.h"

namespace shardscope::ui {

QString runFacts(const app::RunRecord& run) {
    using app::RunState;
    switch (run.state) {
    case RunState::Running:
        return RunsModel::tr("running");
    case RunState::Failed:
        return RunsModel::tr("failed");
    default:
        break;
    }
    QString facts = run.peakBytes > 0 ? bytesText(double(run.peakBytes)) : QString();
    if (run.msPerToken > 0)
        facts += RunsModel::tr(", %1/token").arg(msText(run.msPerToken));
    if (run.state == RunState::Stopped)
        facts += RunsModel::tr(", stopped");
    if (run.state == RunState::Partial)
        facts += RunsModel::tr(", partial");
    return facts;
}

QString runDate(const QDateTime& when) {
    const QDateTime local = when.toLocalTime();
    const QString clock = local.toString(QStringLiteral("HH:mm"));
    const qint64 days = local.date().daysTo(QDate::currentDate());
    if (days == 0)
        return RunsModel::tr("Today %1").arg(clock);
    if (days == 1)
        return RunsModel::tr("Yesterday %1").arg(clock);
    return QLocale().toString(local, QStringLiteral("d MMM ")) + clock;
}

QString shortModelName(const QString& model) {
    QString name = model.section(QLatin1Char('/'), -1);
    if (name.endsWith(QLatin1String(".bin")))
        name.chop(4);
    return name.remove(QStringLiteral("card:"));
}

RunsModel::RunsModel(QObject* parent) : QAbstractListModel(parent) {}

void RunsModel::setRuns(QList<app::RunRecord> runs) {
    beginResetModel();
    m_runs = std::move(runs);
    endResetModel();
}

const app::RunRecord* RunsModel::find(const QString& uuid) const {
    for (const app::RunRecord& run : m_runs)
        if (run.uuid == uuid)
            return &run;
    return nullptr;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const app::RunRecord& run = m_runs[index.row()];
    switch (role) {
    case Qt::DisplayRole:
        return shortModelName(run.model);
    case Qt::ToolTipRole:
        return QStringLiteral("%1\n%2\n%3\n%4")
            .arg(run.model, run.audio, run.text, run.tags.join(QStringLiteral(", ")))
            .trimmed();
    case UuidRole:
        return run.uuid;
    case SubtitleRole:
        return QStringLiteral("%1 \u00b7 %2").arg(runDate(run.started), run.board);
    case FactsRole:
        return runFacts(run);
    case TagsRole:
        return run.tags;
    case StarredRole:
        return run.starred;
    case StateRole:
        return static_cast<int>(run.state);
    default:
        return {};
    }
}

RunsFilter::RunsFilter(QObject* parent) : QSortFilterProxyModel(parent) {}

void RunsFilter::setText(const QString& text) {
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void RunsFilter::setStarredOnly(bool on) {
    m_starredOnly = on;
    invalidateFilter();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (m_starredOnly && !index.data(RunsModel::StarredRole).toBool())
        return false;
    const QString all = index.data().toString() + QLatin1Char(' ') +
                        index.data(RunsModel::SubtitleRole).toString() + QLatin1Char(' ') +
                        index.data(Qt::ToolTipRole).toString();
    return std::all_of(m_words.begin(), m_words.end(), [&all](const QString& word) {
        return all.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace shardscope::ui
