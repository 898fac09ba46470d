// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/playback_bar.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

constexpr int kSteps = 10000;
constexpr double kSpeeds[] = {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4};

QToolButton* toolFor(QAction* action, const char* iconName) {
    auto* made = new QToolButton;
    made->setIcon(icon(QLatin1String(iconName)));
    made->setIconSize({18, 18});
    made->setToolTip(
        QStringLiteral("%1 (%2)").arg(action->toolTip(), action->shortcut().toString()));
    made->setAccessibleName(action->text());
    QObject::connect(made, &QToolButton::clicked, action, &QAction::trigger);
    return made;
}

QString secondsText(base::Nanos t) {
    return QString::number(base::seconds(t), 'f', 3);
}

} // namespace

PlaybackBar::PlaybackBar(app::Playback* playback, const ActionTable& actions, QWidget* parent)
    : QFrame(parent), m_playback(playback), m_scrub(new QSlider(Qt::Horizontal)),
      m_time(label({}, "muted")), m_speed(new QComboBox) {
    setProperty("look", "footbar");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 3, 12, 3);
    row->setSpacing(4);
    row->addWidget(toolFor(actions.action("play.step_back"), "step-back"));
    m_play = toolFor(actions.action("play.toggle"), "play");
    m_play->setObjectName(QStringLiteral("results.play"));
    row->addWidget(m_play);
    row->addWidget(toolFor(actions.action("play.step_forward"), "step-forward"));
    row->addSpacing(8);
    m_scrub->setRange(0, kSteps);
    m_scrub->setObjectName(QStringLiteral("results.scrub"));
    m_scrub->setAccessibleName(tr("Position of the replay"));
    row->addWidget(m_scrub, 1);
    row->addSpacing(8);
    m_time->setMinimumWidth(118);
    m_time->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_time);
    row->addSpacing(6);
    for (const double speed : kSpeeds)
        m_speed->addItem(QStringLiteral("%1\u00d7").arg(speed), speed);
    m_speed->setCurrentIndex(m_speed->findData(1.0));
    m_speed->setToolTip(tr("Speed of the replay"));
    row->addWidget(m_speed);

    connect(m_speed, &QComboBox::activated, this, [this] {
        m_playback->setSpeed(m_speed->currentData().toDouble());
    });
    connect(m_scrub, &QSlider::valueChanged, this, [this](int at) {
        m_playback->seek(base::Nanos(m_playback->duration().value / kSteps * at));
    });
    connect(m_playback, &app::Playback::positionChanged, this, &PlaybackBar::showPosition);
    connect(m_playback, &app::Playback::durationChanged, this, &PlaybackBar::showDuration);
    connect(m_playback, &app::Playback::playingChanged, this, [this](bool playing) {
        m_play->setIcon(icon(playing ? QStringLiteral("pause") : QStringLiteral("play")));
    });
    showDuration();
}

void PlaybackBar::showDuration() {
    setEnabled(!m_playback->isEmpty());
    showPosition();
}

void PlaybackBar::showPosition() {
    const auto total = m_playback->duration();
    m_time->setText(tr("%1 / %2 s").arg(secondsText(m_playback->position()), secondsText(total)));
    if (m_scrub->isSliderDown())
        return;
    const QSignalBlocker quiet(m_scrub);
    m_scrub->setValue(
        total.value > 0 ? static_cast<int>(m_playback->position().real() / total.real() * kSteps)
                        : 0);
}

} // namespace shardscope::ui
