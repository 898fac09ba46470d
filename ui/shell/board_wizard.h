// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QDialog>

#include "app/remote/ssh/board_check.h"
#include "app/store/run_store.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace shardscope::ui {

class IconLabel;

/// Adds a board, or tests one that is known: address and key above, the steps of the test below, a
/// line each, and the questions of the connection between them. The board is kept once all steps
/// have passed. GUI thread only; the connection has a thread of its own.
class BoardWizard : public QDialog {
    Q_OBJECT
public:
    /// An empty record adds a board. The store must outlive the dialog.
    BoardWizard(
        app::RunStore* store, const app::RemoteBoard& board, app::SshOptions options,
        QWidget* parent = nullptr);
    ~BoardWizard() override;

    void start();
    void stop();
    const app::BoardCheck* check() const { return m_check.get(); }

signals:
    /// The board is in the store, tested.
    void added(const QString& name);

private:
    struct Row {
        IconLabel* icon;
        QLabel* title;
        QLabel* detail;
    };
    QGridLayout* makeForm();
    void chooseKey();
    void makeRows();
    void showStep(int index);
    void ask(quint64 number, const app::SshQuestion& question);
    void finish(const std::optional<base::Error>& error);
    void save();
    void showButtons();

    app::RunStore* m_store;
    app::RemoteBoard m_board;
    app::SshOptions m_options;
    std::unique_ptr<app::BoardCheck> m_check;
    QLineEdit* m_address;
    QLineEdit* m_name;
    QLineEdit* m_identity;
    QCheckBox* m_authorize;
    QGridLayout* m_steps;
    QVBoxLayout* m_questionPlace;
    QLabel* m_outcome;
    QPushButton* m_start;
    QPushButton* m_stop;
    QPushButton* m_close;
    QList<Row> m_rows;
};

} // namespace shardscope::ui
