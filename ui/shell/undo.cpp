// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/undo.h"

#include <QCoreApplication>
#include <utility>

#include "sim_engine/plan/knobs.h"

namespace shardscope::ui {
namespace {

constexpr qint64 kOneGestureMs = 700;

/// The only knob in which two configurations differ; null where there are none or more.
const plan::Knob* onlyDifference(const plan::RunConfig& a, const plan::RunConfig& b) {
    const plan::Knob* found = nullptr;
    for (const plan::Knob& knob : plan::knobs()) {
        if (knob.print(a) == knob.print(b))
            continue;
        if (found)
            return nullptr;
        found = &knob;
    }
    return found;
}

} // namespace

ChangeSettings::ChangeSettings(app::WhatIf* whatIf, plan::RunConfig before, plan::RunConfig after)
    : QUndoCommand(QCoreApplication::translate("undo", "settings")), m_whatIf(whatIf),
      m_before(std::move(before)), m_after(std::move(after)) {
    m_sinceChange.start();
}

bool ChangeSettings::mergeWith(const QUndoCommand* later) {
    const auto* next = static_cast<const ChangeSettings*>(later);
    const plan::Knob* knob = onlyDifference(m_before, m_after);
    if (!knob || m_sinceChange.elapsed() > kOneGestureMs ||
        onlyDifference(next->m_before, next->m_after) != knob)
        return false;
    m_after = next->m_after;
    m_sinceChange.start();
    setObsolete(m_after == m_before);
    return true;
}

ChangeByCall::ChangeByCall(
    const QString& text, std::function<void()> redo, std::function<void()> undo)
    : QUndoCommand(text), m_redo(std::move(redo)), m_undo(std::move(undo)) {}

} // namespace shardscope::ui
