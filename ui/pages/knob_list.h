// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>
#include <vector>

#include "app/replay/what_if.h"
#include "ui/pages/knob_controls.h"

namespace shardscope::ui {

/// A slider or a choice for every knob, in groups.
class KnobList : public QScrollArea {
    Q_OBJECT
public:
    explicit KnobList(app::WhatIf* whatIf, QWidget* parent = nullptr);

    KnobControl* control(std::string_view key) const;
    /// Gives the sliders the places that this model and board allow.
    void fitToModel();
    void showConfig();

private:
    KnobControl* makeControl(const plan::Knob& knob);

    app::WhatIf* m_whatIf;
    std::vector<KnobControl*> m_controls;
};

} // namespace shardscope::ui
