// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/knob_list.h"

#include <QCoreApplication>
#include <QLabel>
#include <QVBoxLayout>
#include <array>

#include "ui/kit/parts.h"
#include "ui/pages/knob_stops.h"

namespace shardscope::ui {
namespace {

struct Group {
    const char* title;
    std::vector<std::string_view> keys;
};

const std::array<Group, 4>& groups() {
    static const std::array<Group, 4> all{{
        {QT_TRANSLATE_NOOP("WhatIf", "Memory"),
         {"budget_bytes", "pin", "kv", "cross_kv", "cross_keep"}},
        {QT_TRANSLATE_NOOP("WhatIf", "Sharding"),
         {"decoder_shard", "encoder_shard", "vocab_shards", "slots", "policy"}},
        {QT_TRANSLATE_NOOP("WhatIf", "Speed"), {"emulate_read", "loader", "threads"}},
        {QT_TRANSLATE_NOOP("WhatIf", "Decoding"),
         {"batch", "beam", "max_tokens", "audio_ctx", "timestamps", "language"}},
    }};
    return all;
}

} // namespace

KnobList::KnobList(app::WhatIf* whatIf, QWidget* parent) : QScrollArea(parent), m_whatIf(whatIf) {
    auto* list = new QWidget;
    auto* column = new QVBoxLayout(list);
    column->setContentsMargins(14, 10, 14, 14);
    column->setSpacing(9);
    for (const Group& group : groups()) {
        column->addWidget(label(QCoreApplication::translate("WhatIf", group.title), "section"));
        for (const std::string_view key : group.keys)
            column->addWidget(makeControl(*plan::findKnob(key)));
        column->addSpacing(6);
    }
    column->addStretch();
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list->setProperty("look", "panel");
    setWidget(list);
}

KnobControl* KnobList::makeControl(const plan::Knob& knob) {
    const auto words = knobChoices(knob);
    KnobControl* control = words.empty() ? static_cast<KnobControl*>(new SliderKnob(knob))
                                         : new ChoiceKnob(knob, words);
    connect(control, &KnobControl::edited, this, [this, &knob](const std::string& text) {
        plan::RunConfig changed = m_whatIf->config();
        if (knob.parse(changed, text))
            m_whatIf->setConfig(changed);
    });
    m_controls.push_back(control);
    return control;
}

KnobControl* KnobList::control(std::string_view key) const {
    for (KnobControl* control : m_controls)
        if (control->knob().key == key)
            return control;
    return nullptr;
}

void KnobList::fitToModel() {
    // What it takes to hold everything is the end of the budget slider.
    plan::RunConfig unbounded = m_whatIf->baseline();
    unbounded.budget.reset();
    unbounded.pin = {};
    const auto all = plan::planOrError(m_whatIf->card(), unbounded, m_whatIf->board());
    const base::Bytes everything = all ? all->peak : m_whatIf->card()->weightBytes();
    for (KnobControl* control : m_controls)
        if (auto* slider = qobject_cast<SliderKnob*>(control))
            slider->setStops(
                knobStops(control->knob().key, *m_whatIf->card(), m_whatIf->board(), everything));
}

void KnobList::showConfig() {
    for (KnobControl* control : m_controls)
        control->showConfig(m_whatIf->config());
}

} // namespace shardscope::ui
