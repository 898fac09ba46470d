// SPDX-License-Identifier: GPL-3.0-or-later
// Steps that Ctrl+Z takes back: settings of What-if, and what people add to runs.
#pragma once

#include <QElapsedTimer>
#include <QUndoCommand>
#include <functional>

#include "app/replay/what_if.h"

namespace shardscope::ui {

/// Other settings. Moves of one slider that follow each other quickly are one step.
class ChangeSettings : public QUndoCommand {
public:
    ChangeSettings(app::WhatIf* whatIf, plan::RunConfig before, plan::RunConfig after);
    void undo() override { m_whatIf->setConfig(m_before); }
    void redo() override { m_whatIf->setConfig(m_after); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* later) override;

private:
    app::WhatIf* m_whatIf;
    plan::RunConfig m_before, m_after;
    QElapsedTimer m_sinceChange;
};

/// A change that is a call either way.
class ChangeByCall : public QUndoCommand {
public:
    ChangeByCall(const QString& text, std::function<void()> redo, std::function<void()> undo);
    void undo() override { m_undo(); }
    void redo() override { m_redo(); }

private:
    std::function<void()> m_redo, m_undo;
};

} // namespace shardscope::ui
