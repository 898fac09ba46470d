// SPDX-License-Identifier: GPL-3.0-or-later
// The run that the views of one page show: its measured trace, the predicted one, what the views
// need to know about both, and where in time the user is. Views are given one of these.
#pragma once

#include <memory>

#include <QObject>
#include <QString>

#include "sim_engine/analyze/run_index.h"
#include "sim_engine/trace/trace.h"
#include "ui/state/frame_scheduler.h"
#include "ui/state/time_state.h"

namespace shardscope::ui {

/// GUI thread only.
class RunData : public QObject {
    Q_OBJECT

public:
    explicit RunData(QObject* parent = nullptr);

    /// Shows a run; null for none. The trace must outlive its showing; it may grow
    /// (eventsAppended).
    void setMeasured(const trace::Trace* trace);
    /// While live, open lives and spans end at the last event and the views can follow.
    void setLive(bool live);
    /// The prediction that lies over the run; null for none. Cheap enough for a moving slider.
    /// `index` is that of the trace, where somebody has made it already.
    void setPredicted(
        std::shared_ptr<const trace::Trace> trace,
        std::shared_ptr<const analyze::RunIndex> index = nullptr);

    /// What the second trace is to the user: "predicted" unless it is another run.
    void setGhostName(const QString& name);
    const QString& ghostName() const { return m_ghostName; }

    const trace::Trace* measured() const { return m_measured; }
    const trace::Trace* predicted() const { return m_predicted.get(); }
    /// Null where there is no such trace.
    const analyze::RunIndex* measuredIndex() const { return m_measured ? &m_index : nullptr; }
    const analyze::RunIndex* predictedIndex() const {
        return m_predictedIndex.get();
    }
    /// The trace that a view without a second layer shows: measured, else predicted.
    const trace::Trace* shown() const { return m_measured ? m_measured : m_predicted.get(); }
    const analyze::RunIndex* shownIndex() const;

    TimeState* time() { return &m_time; }
    FrameScheduler* frames() { return &m_frames; }

public slots:
    /// The measured trace has grown.
    void eventsAppended();

signals:
    /// Another run, or more events of it.
    void measuredChanged();
    void predictedChanged();

private:
    void updateExtent(bool reset);

    TimeState m_time;
    FrameScheduler m_frames;
    QString m_ghostName;
    const trace::Trace* m_measured = nullptr;
    std::shared_ptr<const trace::Trace> m_predicted;
    analyze::RunIndex m_index;
    std::shared_ptr<const analyze::RunIndex> m_predictedIndex; ///< null without a prediction
};

} // namespace shardscope::ui
