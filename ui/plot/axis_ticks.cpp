// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/axis_ticks.h"

#include "ui/plot/tick_text.h"

namespace shardscope::ui {

double TimeTicker::getTickStep(const QCPRange& range) {
    m_step = roundStep(range.size() / mTickCount);
    m_largest = range.upper;
    return m_step;
}

QString TimeTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return timeTickText(tick, m_step, m_largest);
}

double ByteTicker::getTickStep(const QCPRange& range) {
    m_step = roundByteStep(range.size() / mTickCount);
    m_largest = range.upper;
    return m_step;
}

QString ByteTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return byteTickText(tick, m_step, m_largest);
}

} // namespace shardscope::ui
