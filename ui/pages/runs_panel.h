// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/runs_model.h"

class QFrame;
class QLabel;
class QLayout;
class QLineEdit;
class QListView;
class QPushButton;

namespace shardscope::ui {

/// The stored runs: filter, star, open, compare, delete with undo.
class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(RunsModel* runs, QWidget* parent = nullptr);
    void showUndo(const QString& text);
    void hideUndo();
    QString selected() const;
    void select(const QString& uuid);

signals:
    void opened(const QString& uuid);
    void starClicked(const QString& uuid, bool starred);
    void compareClicked(const QString& uuid);
    void tagsEdited(const QString& uuid, const QStringList& tags);
    void deleteClicked(const QString& uuid);
    void undoClicked();

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    QLayout* makeTools();
    void makeList();
    QLayout* makeFoot();
    QWidget* makeTagLine();
    void addListActions();
    void editTags();
    void starSelected();
    void connectList();
    void showButtons();

    QString m_open; ///< the run that the page shows
    RunsModel* m_runs;
    RunsFilter* m_filter;
    QLineEdit* m_search;
    QListView* m_list;
    QLabel* m_empty;
    QFrame* m_undo;
    QLabel* m_undoText;
    QWidget* m_tagLine = nullptr;
    QLineEdit* m_tags = nullptr;
    QString m_tagged; ///< the run whose tags are edited
    QPushButton* m_compare;
    QPushButton* m_delete;
};

} // namespace shardscope::ui
