// SPDX-License-Identifier: GPL-3.0-or-later
// One control a knob. All speak the words of plan::knobs(), so they can do what a command line can.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "sim_engine/plan/knobs.h"

class QComboBox;
class QLabel;
class QSlider;

namespace shardscope::ui {

/// What people read for a knob's text: "21.0 MiB", "2 layers", "50.0 MB/s".
QString knobValueText(const plan::Knob& knob, const std::string& text);

/// The words that the knob lists and takes: "f32", "f16", ...
std::vector<std::string> knobWords(const plan::Knob& knob);

class KnobControl : public QWidget {
    Q_OBJECT
public:
    KnobControl(const plan::Knob& knob, QWidget* parent);
    const plan::Knob& knob() const { return m_knob; }
    /// Shows the value of the config; emits nothing.
    virtual void showConfig(const plan::RunConfig& config) = 0;

signals:
    /// The user chose this value, in the knob's words.
    void edited(const std::string& text);

protected:
    const plan::Knob& m_knob;
};

/// A slider over a list of values.
class SliderKnob : public KnobControl {
    Q_OBJECT
public:
    SliderKnob(const plan::Knob& knob, QWidget* parent = nullptr);
    void setStops(std::vector<std::string> stops);
    const std::vector<std::string>& stops() const { return m_stops; }
    void showConfig(const plan::RunConfig& config) override;
    QSlider* slider() const { return m_slider; }

private:
    int nearestStop(const std::string& text) const;

    std::vector<std::string> m_stops;
    QSlider* m_slider;
    QLabel* m_value;
};

/// A list of words to choose from.
class ChoiceKnob : public KnobControl {
    Q_OBJECT
public:
    ChoiceKnob(
        const plan::Knob& knob, const std::vector<std::string>& words, QWidget* parent = nullptr);
    void showConfig(const plan::RunConfig& config) override;

private:
    QComboBox* m_combo;
};

} // namespace shardscope::ui
