// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/state/run_data.h"

#include <algorithm>
#include <utility>

namespace shardscope::ui {

using base::Nanos;

RunData::RunData(QObject* parent) : QObject(parent), m_ghostName(tr("predicted")) {}

void RunData::setGhostName(const QString& name) {
    m_ghostName = name;
    emit predictedChanged();
}

const analyze::RunIndex* RunData::shownIndex() const {
    return m_measured ? measuredIndex() : predictedIndex();
}

void RunData::setMeasured(const trace::Trace* trace) {
    m_measured = trace;
    m_index.clear();
    if (m_measured)
        m_index.update(*m_measured);
    updateExtent(true);
    emit measuredChanged();
}

void RunData::setLive(bool live) {
    m_time.setLive(live);
}

void RunData::eventsAppended() {
    if (!m_measured)
        return;
    m_index.update(*m_measured);
    updateExtent(false);
    emit measuredChanged();
}

void RunData::setPredicted(
    std::shared_ptr<const trace::Trace> trace, std::shared_ptr<const analyze::RunIndex> index) {
    if (trace == m_predicted)
        return;
    m_predicted = std::move(trace);
    m_predictedIndex = std::move(index);
    if (m_predicted && !m_predictedIndex) {
        auto made = std::make_shared<analyze::RunIndex>();
        made->update(*m_predicted);
        m_predictedIndex = std::move(made);
    }
    updateExtent(false);
    emit predictedChanged();
}

void RunData::updateExtent(bool reset) {
    Nanos end;
    if (m_measured)
        end = std::max(end, m_index.end());
    if (m_predicted)
        end = std::max(end, m_predictedIndex->end());
    const TimeRange run{Nanos(0), std::max(end, TimeState::kShortest)};
    if (reset)
        m_time.reset(run);
    else
        m_time.setRun(run);
}

} // namespace shardscope::ui
