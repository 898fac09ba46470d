// SPDX-License-Identifier: GPL-3.0-or-later
// How the engine comes to its loader, what it does where the system refuses one, and what a run
// leaves in the page cache.
#include <QtTest>

#include <cstring>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device_agent/agent/frame_out.h"
#include "device_agent/agent/run_job.h"
#include "device_agent/engine/weights/page_cache.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/trace/recording.h"
#include "tests/integration/engine_run.h"
#include "tests/integration/system_refusal.h"

using namespace shardscope;
using plan::Loader;
using tests::Refusal;

class TestLoaders : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QVERIFY(QFile::copy(QString::fromStdString(tests::sampleModel()), modelFile()));
        const int fd = ::open(model().c_str(), O_RDONLY);
        QCOMPARE(::fsync(fd), 0); // pages that are not written yet cannot be given back
        ::close(fd);
        m_reference = logitsOf(runStreamed("pread"));
        QVERIFY(!m_reference.empty());
    }

    void takesTheFirstThatWorks_data() {
        using List = std::vector<Refusal>;
        QTest::addColumn<QByteArray>("asked");
        QTest::addColumn<std::vector<Refusal>>("refused");
        QTest::addColumn<Loader>("used");
        QTest::addColumn<QStringList>("notes");
        const QString noRing =
            "direct instead of uring: io_uring is refused: Operation not permitted";
        const QString noDirect = "pread instead of direct: O_DIRECT is refused: Invalid argument";
        const QString noDirectRing =
            "direct instead of uring: O_DIRECT is refused: Invalid argument";
        for (const char* asked : {"auto", "uring"}) {
            const QByteArray name(asked);
            QTest::newRow(name + ", all works") << name << List{} << Loader::Uring << QStringList{};
            QTest::newRow(name + ", no io_uring")
                << name << List{Refusal::IoUring} << Loader::Direct << QStringList{noRing};
            QTest::newRow(name + ", no O_DIRECT")
                << name << List{Refusal::DirectReads} << Loader::Pread
                << QStringList{noDirectRing, noDirect};
        }
        QTest::newRow("direct, all works")
            << QByteArray("direct") << List{} << Loader::Direct << QStringList{};
        QTest::newRow("direct, no O_DIRECT") << QByteArray("direct") << List{Refusal::DirectReads}
                                             << Loader::Pread << QStringList{noDirect};
        QTest::newRow("pread, nothing works")
            << QByteArray("pread") << List{Refusal::IoUring, Refusal::DirectReads} << Loader::Pread
            << QStringList{};
    }
    void takesTheFirstThatWorks() {
        QFETCH(QByteArray, asked);
        QFETCH(std::vector<Refusal>, refused);
        QFETCH(Loader, used);
        QFETCH(QStringList, notes);
        tests::EngineRun run;
        const auto act = [&] { run = runStreamed(asked); };
        if (refused.empty())
            act();
        else if (!tests::runRefused(refused, act))
            QSKIP("no seccomp here");
        QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
        if (refused.empty() && run.loader != used)
            QSKIP(run.loaderReason.c_str()); // this machine refuses by itself
        QCOMPARE(run.loader, used);
        QStringList told;
        for (const std::string& note : run.notes)
            told.append(QString::fromStdString(note));
        QCOMPARE(told, notes);
        QVERIFY(!run.loaderReason.empty());
        if (!notes.isEmpty())
            QCOMPARE(QString::fromStdString(run.loaderReason), notes.join("; "));
        QVERIFY(logitsOf(run) == m_reference);
    }

    void readsWhereTheFileSystemKnowsNoDirectReads() {
        const QString folder = m_folder.filePath("ramfs");
        QVERIFY(QDir().mkpath(folder));
        if (::mount("none", folder.toUtf8(), "ramfs", 0, nullptr) != 0)
            QSKIP("mounting is not permitted here");
        const auto unmount = qScopeGuard([&] { ::umount2(folder.toUtf8(), MNT_DETACH); });
        QVERIFY(QFile::copy(modelFile(), folder + "/model.bin"));
        const auto run = runStreamed("auto", (folder + "/model.bin").toStdString());
        QVERIFY2(run.status.ok(), run.status.ok() ? "" : run.status.error().line().c_str());
        QCOMPARE(run.loader, Loader::Pread);
        QCOMPARE(run.notes.size(), std::size_t{2});
        QVERIFY(logitsOf(run) == m_reference);
    }

    void doesWithoutRegisteredBuffers() {
        // Only of use to a user without the right to lock memory; root may lock all.
        if (::geteuid() == 0)
            QSKIP("root may lock all memory");
        const rlimit none{0, 0};
        QCOMPARE(::setrlimit(RLIMIT_MEMLOCK, &none), 0);
        const auto run = runStreamed("uring");
        QVERIFY(run.status.ok());
        QVERIFY(logitsOf(run) == m_reference);
    }

    void aFileThatBecameShorterEndsTheRun_data() {
        QTest::addColumn<QByteArray>("loader");
        QTest::addColumn<QStringList>("knobs");
        for (const char* loader : {"pread", "direct", "uring"})
            for (const char* pin : {"none", "all"})
                QTest::addRow("%s, pin %s", loader, pin)
                    << QByteArray(loader) << QStringList{"--pin", pin};
    }
    void aFileThatBecameShorterEndsTheRun() {
        QFETCH(QByteArray, loader);
        QFETCH(QStringList, knobs);
        plan::RunConfig config = tests::configOf({{"--max-tokens", "3"}});
        for (const QStringList& pair : {QStringList{"--loader", loader}, knobs})
            QVERIFY(plan::setKnob(config, pair[0].toStdString(), pair[1].toStdString()).ok());
        for (const qint64 missing : {qint64{100}, qint64{3} << 20}) {
            const QString shorter = m_folder.filePath("shorter.bin");
            QFile::remove(shorter);
            QVERIFY(QFile::copy(modelFile(), shorter));
            QVERIFY(QFile::resize(shorter, QFileInfo(shorter).size() - missing));
            const auto run = tests::runModel(
                model(), config, tests::sampleClip("syn-000.wav"),
                [&](engine::RunRequest& r) { r.modelPath = shorter.toStdString(); });
            QVERIFY(!run.status.ok());
            QCOMPARE(run.status.error().code, base::ErrorCode::Failed);
            QCOMPARE(run.status.error().what, std::string("the file became shorter"));
        }
    }

    void autoReadsFromTheCacheWhatIsThereAndStays() {
        QFile file(modelFile());
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().size(), file.size());
        const auto warm = run("auto", {"--pin", "all"}, base::Bytes(0));
        QCOMPARE(warm.loader, Loader::Pread);
        QVERIFY(warm.loaderReason.find("page cache") != std::string::npos);
        forget();
        const auto cold = run("auto", {"--pin", "all"}, base::Bytes(0));
        QVERIFY(cold.loader == Loader::Uring || !cold.notes.empty());
    }

    void leavesInThePageCacheWhatItSays_data() {
        QTest::addColumn<QByteArray>("loader");
        QTest::addColumn<QStringList>("knobs");
        QTest::addColumn<double>("room"); // in parts of the file
        QTest::addColumn<double>("least");
        QTest::addColumn<double>("most");
        const QStringList streamed{"--pin", "none"}, half{"--pin", "15MB"};
        for (const char* loader : {"direct", "uring", "auto"})
            QTest::newRow(loader) << QByteArray(loader) << streamed << 100. << 0. << 0.1;
        QTest::newRow("pread, room for all")
            << QByteArray("pread") << streamed << 100. << 0.95 << 1.;
        QTest::newRow("pread, no room") << QByteArray("pread") << streamed << 0.2 << 0. << 0.1;
        QTest::newRow("pread, room for what streams")
            << QByteArray("pread") << half << 0.8 << 0.3 << 0.7;
        QTest::newRow("mmap, room for all") << QByteArray("mmap") << streamed << 100. << 0.95 << 1.;
        QTest::newRow("mmap, no room") << QByteArray("mmap") << streamed << 0.2 << 0. << 0.1;
        QTest::newRow("populate, no room")
            << QByteArray("populate") << streamed << 0.2 << 0. << 0.1;
    }
    void leavesInThePageCacheWhatItSays() {
        QFETCH(QByteArray, loader);
        QFETCH(QStringList, knobs);
        QFETCH(double, room);
        QFETCH(double, least);
        QFETCH(double, most);
        if (forget() > 0.02)
            QSKIP("this file system keeps pages that it is told to give back");
        // Half of what is free beside the arena may be filled.
        const auto file = static_cast<double>(QFileInfo(modelFile()).size());
        const auto done =
            run(loader, knobs, base::Bytes(static_cast<std::int64_t>(2 * room * file)), true);
        QVERIFY2(done.status.ok(), done.status.ok() ? "" : done.status.error().line().c_str());
        if (done.loader == Loader::Pread && loader != "pread")
            QSKIP(done.loaderReason.c_str());
        const double share = cached();
        QVERIFY2(share >= least && share <= most, qPrintable(QString::number(share)));
    }

    void aFallBackStandsInTheTraceAndTheResult() {
        Recorded run;
        const bool isRefused = tests::runRefused({Refusal::IoUring}, [&] {
            run = recorded({{"--max-tokens", "2"}, {"--pin", "none"}});
        });
        if (!isRefused)
            QSKIP("no seccomp here");
        QCOMPARE(run.result["io"]["loader"].get<std::string>(), "direct");
        const auto note = run.result["io"]["notes"].at(0).get<std::string>();
        QVERIFY(note.find("io_uring is refused") != std::string::npos);
        QCOMPARE(run.result["io"]["loader_reason"].get<std::string>(), note);
        QCOMPARE(run.recording.trace.legend.notes, std::vector<std::string>{note});
        QVERIFY(!run.recording.run["cold"].get<bool>());
        const auto& events = run.recording.trace.events;
        QCOMPARE(
            std::count_if(
                events.begin(), events.end(),
                [](const trace::Event& e) {
                    return e.kind == trace::EventKind::Note && e.id == 0;
                }),
            1);
    }

    void aColdRunFindsNothingInThePageCache() {
        if (forget() > 0.02)
            QSKIP("this file system keeps pages that it is told to give back");
        QFile file(modelFile());
        QVERIFY(file.open(QIODevice::ReadWrite));
        const QByteArray all = file.readAll();
        QVERIFY(file.seek(0));
        QCOMPARE(file.write(all), all.size()); // nothing of it is on the storage yet
        QVERIFY(file.flush());
        QVERIFY(cached() > 0.95);
        const tests::Knobs knobs{{"--max-tokens", "1"}, {"--loader", "direct"}};
        const Recorded cold = recorded(knobs, true);
        QCOMPARE(
            cold.result["io"]["notes"].at(0).get<std::string>(),
            std::string("cold: nothing of the model was in the page cache"));
        QCOMPARE(cold.recording.trace.legend.notes.size(), cold.result["io"]["notes"].size());
        QVERIFY(cold.recording.run["cold"].get<bool>());
        QVERIFY(cached() < 0.5); // the rest of the run reads past it
        // What another program maps stays, and is told.
        const uchar* map = file.map(0, file.size());
        QVERIFY(map);
        uchar sum = 0;
        for (qint64 at = 0; at < file.size(); at += plan::kPage)
            sum = static_cast<uchar>(sum + map[at]);
        volatile uchar touched = sum;
        (void)touched;
        const Recorded held = recorded(knobs, true);
        const auto note = held.result["io"]["notes"].at(0).get<std::string>();
        QVERIFY2(note.find("stayed in the page cache") != std::string::npos, note.c_str());
    }

private:
    QTemporaryDir m_folder{QStringLiteral(PROGRAMS_DIR "/loaders-XXXXXX")};
    std::vector<float> m_reference;

    QString modelFile() const { return m_folder.filePath("model.bin"); }
    std::string model() const { return modelFile().toStdString(); }
    std::string dump() const { return m_folder.filePath("logits").toStdString(); }

    struct Recorded {
        nlohmann::ordered_json result;
        trace::Recording recording;
    };
    /// A run as the agent does it.
    Recorded recorded(tests::Knobs knobs, bool isCold = false) const {
        class Bytes final : public agent::FrameSink {
        public:
            int put(trace::FrameKind, std::string_view frame) override {
                bytes.append(frame);
                return 0;
            }
            std::string bytes;
        } bytes;
        agent::FrameOut out(bytes);
        agent::RunJob job;
        job.request.modelPath = model();
        job.request.audioPath = tests::sampleClip("syn-000.wav");
        job.request.isCold = isCold;
        job.config = tests::configOf(knobs);
        job.stream = &out;
        Recorded run;
        if (auto done = job.perform())
            run.result = *done;
        QFile file(m_folder.filePath("run.sst"));
        if (!file.open(QIODevice::WriteOnly))
            return run;
        file.write(bytes.bytes.data(), static_cast<qint64>(bytes.bytes.size()));
        file.close();
        if (auto recording = trace::readRecording(file.fileName().toStdString()))
            run.recording = std::move(*recording);
        return run;
    }

    tests::EngineRun
    run(const QByteArray& loader, const QStringList& knobs, base::Bytes freeRam,
        bool besideArena = false, const std::string& path = {}) const {
        plan::RunConfig config = tests::configOf({{"--max-tokens", "3"}});
        for (const QStringList& pair : {QStringList{"--loader", loader}, knobs})
            for (qsizetype i = 0; i + 1 < pair.size(); i += 2)
                if (!plan::setKnob(config, pair[i].toStdString(), pair[i + 1].toStdString()))
                    qFatal("impossible knob");
        const auto ask = [&](engine::RunRequest& r) {
            r.rawGreedy = true;
            r.dumpLogits = dump();
            r.freeRam = freeRam;
        };
        const std::string file = path.empty() ? model() : path;
        if (!besideArena)
            return tests::runModel(file, config, tests::sampleClip("syn-000.wav"), ask);
        const auto planned = tests::runModel(file, config, "no such clip", ask).plan;
        return tests::runModel(file, config, tests::sampleClip("syn-000.wav"), [&](auto& r) {
            ask(r);
            *r.freeRam += planned->peak;
        });
    }
    tests::EngineRun runStreamed(const QByteArray& loader, const std::string& path = {}) const {
        return run(loader, {"--pin", "none"}, base::mebibytes(1 << 16), false, path);
    }
    std::vector<float> logitsOf(const tests::EngineRun& run) const {
        return run.status.ok() ? tests::floatsOf(dump()) : std::vector<float>{};
    }
    double cached() const {
        const auto file = engine::WeightFile::open(model());
        return file ? engine::cachedShare(*file) : -1;
    }
    /// Makes the kernel forget the file; what it still has.
    double forget() const {
        const auto file = engine::WeightFile::open(model());
        ::posix_fadvise(file->descriptor(), 0, 0, POSIX_FADV_DONTNEED);
        return engine::cachedShare(*file);
    }
};

QTEST_GUILESS_MAIN(TestLoaders)
#include "tst_loaders.moc"
