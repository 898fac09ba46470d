// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QList>
#include <QSortFilterProxyModel>

#include "app/store/run_record.h"

namespace shardscope::ui {

/// The runs of the store, newest first. GUI thread only.
class RunsModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        UuidRole = Qt::UserRole + 1,
        SubtitleRole,
        FactsRole,
        StarredRole,
        StateRole,
        TagsRole
    };

    explicit RunsModel(QObject* parent = nullptr);
    void setRuns(QList<app::RunRecord> runs);
    const QList<app::RunRecord>& runs() const { return m_runs; }
    /// Null for an id that is not here.
    const app::RunRecord* find(const QString& uuid) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    QList<app::RunRecord> m_runs;
};

/// Runs whose texts contain every word of the filter, and only starred ones where asked for.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunsFilter(QObject* parent = nullptr);
    void setText(const QString& text);
    void setStarredOnly(bool on);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
    bool m_starredOnly = false;
};

/// "21.4 MiB, 12.3 ms/token", or how the run ended.
QString runFacts(const app::RunRecord& run);
/// "Today 19:40", "12 Nov 19:40".
QString runDate(const QDateTime& when);
/// The model's name without folder and extension.
QString shortModelName(const QString& model);

} // namespace shardscope::ui
