// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QList>
#include <QWidget>
#include <optional>

#include "app/store/run_store.h"
#include "sim_engine/plan/board_profile.h"
#include "ui/pages/board_fit.h"

class QGridLayout;
class QLabel;
class QListWidget;
class QVBoxLayout;

namespace shardscope::ui {

/// A board as the page shows it.
struct BoardEntry {
    plan::BoardProfile profile = {};
    QString state = {}; ///< "ready", "preset"
    bool connected = false;
    QDateTime lastSeen = {}; ///< invalid for presets
    /// Of a board that is reached over SSH.
    std::optional<app::RemoteBoard> remote = {};
    bool measured = true; ///< false: the profile has a name and nothing else
};

/// The boards: a list, and what the chosen one can do and where the values come from.
class BoardsPage : public QWidget {
    Q_OBJECT
public:
    explicit BoardsPage(QWidget* parent = nullptr);
    void setBoards(QList<BoardEntry> boards);
    const QList<BoardEntry>& boards() const { return m_boards; }
    /// What fits on the board of this name; asked for by fitWanted().
    void showFit(const QString& board, const std::vector<FitRow>& rows);

signals:
    void addRequested();
    void testRequested(const QString& board);
    void measureRequested(const QString& board);
    void removeRequested(const QString& board);
    /// Plan a built-in model for a board.
    void planRequested(const QString& board, const QString& card);
    void fitWanted(const shardscope::plan::BoardProfile& board);

private:
    void showBoard(int row);
    QWidget* makeHead(const BoardEntry& board);
    QWidget* makeConnection(const app::RemoteBoard& board);
    QWidget* makeValues(const plan::BoardProfile& board) const;
    QWidget* makeFit(const plan::BoardProfile& board);

    QList<BoardEntry> m_boards;
    QListWidget* m_list;
    QVBoxLayout* m_detail;
    QWidget* m_shown = nullptr;
    QString m_shownName;
    QGridLayout* m_fit = nullptr;
};

} // namespace shardscope::ui
