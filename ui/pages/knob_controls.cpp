// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/knob_controls.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <cmath>

#include "sim_engine/base/format.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// The amount in a knob's text; none for words.
std::optional<double> amount(const std::string& value) {
    if (const auto bytes = base::parseBytes(value))
        return bytes->real();
    return {};
}

} // namespace

QString knobValueText(const plan::Knob& knob, const std::string& value) {
    const auto number = base::parseInteger(value);
    if (!number)
        return text(value);
    if (knob.key == "emulate_read")
        return QString::fromStdString(base::rateText(static_cast<double>(*number)));
    if (knob.key == "budget_bytes" || knob.key == "pin")
        return QString::fromStdString(base::bytesText(base::Bytes(*number)));
    if (knob.key == "decoder_shard" || knob.key == "encoder_shard")
        return *number == 1 ? KnobControl::tr("1 layer")
                            : KnobControl::tr("%1 layers").arg(*number);
    return text(value);
}

std::vector<std::string> knobWords(const plan::Knob& knob) {
    std::vector<std::string> words;
    const QString list = text(knob.values).replace(QStringLiteral(" or "), QStringLiteral(", "));
    for (const QString& word : list.split(QStringLiteral(", "), Qt::SkipEmptyParts)) {
        plan::RunConfig scratch;
        if (knob.parse(scratch, word.toStdString()))
            words.push_back(word.toStdString());
    }
    return words;
}

KnobControl::KnobControl(const plan::Knob& knob, QWidget* parent) : QWidget(parent), m_knob(knob) {
    setObjectName(QStringLiteral("whatif.") + text(knob.key));
    setToolTip(text(knob.help) + QStringLiteral("\n") + text(knob.flag));
}

SliderKnob::SliderKnob(const plan::Knob& knob, QWidget* parent)
    : KnobControl(knob, parent), m_slider(new QSlider(Qt::Horizontal)),
      m_value(label({}, "value")) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(1);
    grid->addWidget(label(text(knob.label), "muted"), 0, 0);
    grid->addWidget(m_value, 0, 1, Qt::AlignRight);
    grid->addWidget(m_slider, 1, 0, 1, 2);
    m_slider->setAccessibleName(text(knob.label));
    connect(m_slider, &QSlider::valueChanged, this, [this](int at) {
        const std::string& chosen = m_stops[static_cast<std::size_t>(at)];
        m_value->setText(knobValueText(m_knob, chosen));
        emit edited(chosen);
    });
}

void SliderKnob::setStops(std::vector<std::string> stops) {
    const QSignalBlocker quiet(m_slider);
    m_stops = std::move(stops);
    m_slider->setRange(0, static_cast<int>(m_stops.size()) - 1);
    m_slider->setPageStep(std::max(1, static_cast<int>(m_stops.size()) / 10));
}

int SliderKnob::nearestStop(const std::string& value) const {
    int best = 0;
    double distance = HUGE_VAL;
    const auto wanted = amount(value);
    for (std::size_t i = 0; i < m_stops.size(); ++i) {
        if (m_stops[i] == value)
            return static_cast<int>(i);
        const auto here = amount(m_stops[i]);
        if (wanted && here && std::abs(*here - *wanted) < distance) {
            distance = std::abs(*here - *wanted);
            best = static_cast<int>(i);
        }
    }
    return best;
}

void SliderKnob::showConfig(const plan::RunConfig& config) {
    const std::string value = m_knob.print(config);
    m_value->setText(knobValueText(m_knob, value));
    if (m_slider->isSliderDown() || m_stops.empty())
        return; // the hand leads
    const QSignalBlocker quiet(m_slider);
    m_slider->setValue(nearestStop(value));
}

ChoiceKnob::ChoiceKnob(
    const plan::Knob& knob, const std::vector<std::string>& words, QWidget* parent)
    : KnobControl(knob, parent), m_combo(new QComboBox) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(label(text(knob.label), "muted"), 1);
    row->addWidget(m_combo);
    m_combo->setFixedWidth(128);
    m_combo->setAccessibleName(text(knob.label));
    for (const std::string& word : words)
        m_combo->addItem(QString::fromStdString(word));
    connect(m_combo, &QComboBox::activated, this, [this] {
        emit edited(m_combo->currentText().toStdString());
    });
}

void ChoiceKnob::showConfig(const plan::RunConfig& config) {
    const QSignalBlocker quiet(m_combo);
    const QString value = QString::fromStdString(m_knob.print(config));
    if (m_combo->findText(value) < 0)
        m_combo->addItem(value); // a word that a command line or a run brought
    m_combo->setCurrentText(value);
}

} // namespace shardscope::ui
