// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "app/replay/what_if.h"

namespace shardscope::app {

/// What each cache policy would cost with the settings of a WhatIf otherwise as they are. Predicted
/// on a worker once those settings rest, and only while somebody looks. GUI thread only.
class PolicyCosts : public QObject {
    Q_OBJECT
public:
    PolicyCosts(JobRunner* jobs, WhatIf* whatIf, QObject* parent = nullptr);

    /// Whether somebody looks.
    void setWanted(bool wanted);
    /// In the order of plan::Policy; empty until there is an answer.
    const std::vector<Prediction>& costs() const { return m_costs; }
    /// The answer is that of the settings as they are.
    bool isCurrent() const { return m_current; }

signals:
    void costsChanged();

private:
    void invalidate();
    void launch();

    JobRunner* m_jobs;
    WhatIf* m_whatIf;
    QString m_kind;
    QTimer m_rest;
    std::vector<Prediction> m_costs;
    bool m_wanted = false;
    bool m_current = false;
};

} // namespace shardscope::app
