// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSemaphore>
#include <QSignalSpy>
#include <QtTest>

#include "app/jobs/job_runner.h"

using namespace shardscope::app;

class TestJobRunner : public QObject {
    Q_OBJECT
private slots:
    void deliversOnTheThreadThatAsked() {
        JobRunner jobs;
        QThread* worker = nullptr;
        QThread* receiver = nullptr;
        jobs.start(QStringLiteral("a"), [&](JobControl&) -> JobRunner::Deliver {
            worker = QThread::currentThread();
            return [&] { receiver = QThread::currentThread(); };
        });
        QTRY_VERIFY(receiver);
        QCOMPARE(receiver, thread());
        QVERIFY(worker != thread());
        QVERIFY(!jobs.isRunning(QStringLiteral("a")));
    }

    void aNewJobDropsTheResultOfTheOld() {
        JobRunner jobs;
        QSemaphore letGo, begun;
        QStringList seen;
        bool oldSawCancel = false;
        jobs.start(QStringLiteral("k"), [&](JobControl& job) -> JobRunner::Deliver {
            begun.release();
            letGo.acquire();
            oldSawCancel = job.isCancelled();
            return [&] { seen << QStringLiteral("old"); };
        });
        begun.acquire();
        jobs.start(QStringLiteral("k"), [&](JobControl&) -> JobRunner::Deliver {
            return [&] { seen << QStringLiteral("new"); };
        });
        QTRY_COMPARE(seen, QStringList{QStringLiteral("new")});
        letGo.release();
        QSignalSpy end(&jobs, &JobRunner::finished);
        jobs.start(QStringLiteral("other"), [](JobControl&) -> JobRunner::Deliver { return {}; });
        QTRY_COMPARE(end.count(), 1);
        QTRY_VERIFY(oldSawCancel);
        QCoreApplication::processEvents();
        QCOMPARE(seen, QStringList{QStringLiteral("new")});
    }

    void kindsDoNotDisturbEachOther() {
        JobRunner jobs;
        int delivered = 0;
        for (const char* kind : {"a", "b", "c"})
            jobs.start(QLatin1String(kind), [&](JobControl&) -> JobRunner::Deliver {
                return [&] { ++delivered; };
            });
        QTRY_COMPARE(delivered, 3);
    }

    void tellsProgressOfTheCurrentJob() {
        JobRunner jobs;
        QSignalSpy progress(&jobs, &JobRunner::progressChanged);
        QSemaphore seen;
        jobs.start(QStringLiteral("p"), [&](JobControl& job) -> JobRunner::Deliver {
            job.setProgress(0.5);
            seen.acquire();
            return {};
        });
        QTRY_COMPARE(progress.count(), 1);
        QCOMPARE(progress[0][1].toDouble(), 0.5);
        seen.release();
    }

    void destructionWaitsAndDeliversNothing() {
        bool delivered = false;
        QSemaphore begun;
        {
            JobRunner jobs;
            jobs.start(QStringLiteral("x"), [&](JobControl& job) -> JobRunner::Deliver {
                begun.release();
                while (!job.isCancelled())
                    QThread::yieldCurrentThread();
                return [&] { delivered = true; };
            });
            begun.acquire();
        }
        QCoreApplication::processEvents();
        QVERIFY(!delivered);
    }
};

QTEST_GUILESS_MAIN(TestJobRunner)
#include "tst_job_runner.moc"
