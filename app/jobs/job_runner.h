// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include <QHash>
#include <QObject>
#include <QString>
#include <QThreadPool>

namespace shardscope::app {

/// What work on a worker thread sees of its job. Thread-safe.
class JobControl {
public:
    bool isCancelled() const { return m_cancelled.load(std::memory_order_relaxed); }
    void cancel() { m_cancelled.store(true, std::memory_order_relaxed); }
    /// 0..1; shown at the next turn of the event loop.
    void setProgress(double share) {
        m_progress.store(share, std::memory_order_relaxed);
        if (m_onProgress)
            m_onProgress();
    }
    double progress() const { return m_progress.load(std::memory_order_relaxed); }

private:
    friend class JobRunner;
    std::atomic<bool> m_cancelled{false};
    std::atomic<double> m_progress{0};
    std::function<void()> m_onProgress;
};

/// Cancellable work on worker threads. Of each kind one job counts: a new one cancels the old, and
/// what the old still delivers is dropped. GUI thread only; the work itself runs on a pool.
class JobRunner : public QObject {
    Q_OBJECT
public:
    /// Runs on the GUI thread when the work is done, unless the job was cancelled or replaced.
    using Deliver = std::function<void()>;
    /// Runs on a worker; what it returns may be empty.
    using Work = std::function<Deliver(JobControl&)>;

    explicit JobRunner(QObject* parent = nullptr);
    /// Cancels everything and waits for the workers.
    ~JobRunner() override;

    /// Starts work and cancels the earlier job of the same kind; the id of the new one.
    quint64 start(const QString& kind, Work work);
    void cancel(const QString& kind);
    bool isRunning(const QString& kind) const { return m_current.contains(kind); }

signals:
    void started(const QString& kind, quint64 id);
    void progressChanged(const QString& kind, double share);
    /// Delivered, or cancelled with nothing to follow it.
    void finished(const QString& kind, quint64 id);

private:
    struct Job {
        quint64 id = 0;
        std::shared_ptr<JobControl> control;
    };
    void deliver(const QString& kind, quint64 id, const Deliver& deliver);

    QHash<QString, Job> m_current;
    quint64 m_lastId = 0;
    QThreadPool m_pool;
};

} // namespace shardscope::app
