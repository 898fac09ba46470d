// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QTimer>
#include <vector>

#include "app/replay/run_document.h"
#include "app/replay/what_if.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace shardscope::ui {

class ElidedLabel;

/// The head of the results page: what ran where, its figures, and run or stop.
class FactsBar : public QFrame {
    Q_OBJECT
public:
    FactsBar(app::RunDocument* document, app::WhatIf* whatIf, QWidget* parent = nullptr);
    /// Shows everything anew.
    void refresh();
    QPushButton* runButton() const { return m_run; }
    /// Whether there is something to run; if not, why.
    void setRunnable(bool runnable, const QString& why);
    /// What was predicted for the run before anything was learned from it; none: What-if tells.
    void setOwnPrediction(const std::optional<analyze::Summary>& summary);
    /// What bounds the run, in short and in a sentence; empty: not known.
    void setBound(const QString& badge, const QString& sentence);

signals:
    void runClicked();
    void stopClicked();

private:
    struct Fact {
        QLabel* name;
        QLabel* value;
        QLabel* more;
    };
    Fact addFact(const QString& name, const QString& help);
    void showTitle();
    void showMeasured();
    void showPlanned();
    void showPrediction();
    void showRunButton();

    app::RunDocument* m_document;
    app::WhatIf* m_whatIf;
    ElidedLabel* m_title;
    QLabel* m_badge;
    QLabel* m_bound;
    ElidedLabel* m_subtitle;
    QHBoxLayout* m_factRow = nullptr;
    Fact m_peak, m_first, m_token, m_stall, m_hidden, m_predicted;
    QPushButton* m_run;
    std::optional<analyze::Summary> m_own;
    bool m_runnable = false;
    QTimer m_tick;
    qint64 m_startedAt = 0; ///< ms of the monotonic clock
    QTimer m_redraw;
};

} // namespace shardscope::ui
