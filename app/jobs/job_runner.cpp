// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/job_runner.h"

#include <utility>

#include <QMetaObject>
#include <QThread>

namespace shardscope::app {

JobRunner::JobRunner(QObject* parent) : QObject(parent) {
    // Two at least: a long load must not hold up a slider.
    m_pool.setMaxThreadCount(std::max(2, QThread::idealThreadCount()));
}

JobRunner::~JobRunner() {
    for (const Job& job : std::as_const(m_current))
        job.control->cancel();
    m_pool.clear();
    m_pool.waitForDone();
}

quint64 JobRunner::start(const QString& kind, Work work) {
    if (const auto old = m_current.constFind(kind); old != m_current.constEnd())
        old->control->cancel();
    Job job{++m_lastId, std::make_shared<JobControl>()};
    const quint64 id = job.id;
    job.control->m_onProgress = [this, kind, id, weak = std::weak_ptr(job.control)] {
        QMetaObject::invokeMethod(
            this,
            [this, kind, id, weak] {
                const auto control = weak.lock();
                if (control && m_current.value(kind).id == id)
                    emit progressChanged(kind, control->progress());
            },
            Qt::QueuedConnection);
    };
    m_current[kind] = job;
    emit started(kind, id);
    m_pool.start([this, kind, id, control = job.control, work = std::move(work)] {
        Deliver result;
        if (!control->isCancelled())
            result = work(*control);
        // The destructor waits for this thread, so `this` lives; events posted to it die with it.
        QMetaObject::invokeMethod(
            this, [this, kind, id, result = std::move(result)] { deliver(kind, id, result); },
            Qt::QueuedConnection);
    });
    return id;
}

void JobRunner::cancel(const QString& kind) {
    const auto job = m_current.find(kind);
    if (job == m_current.end())
        return;
    const quint64 id = job->id;
    job->control->cancel();
    m_current.erase(job);
    emit finished(kind, id);
}

void JobRunner::deliver(const QString& kind, quint64 id, const Deliver& deliver) {
    const auto job = m_current.find(kind);
    if (job == m_current.end() || job->id != id)
        return; // replaced or cancelled since
    m_current.erase(job);
    if (deliver)
        deliver();
    emit finished(kind, id);
}

} // namespace shardscope::app
