// SPDX-License-Identifier: GPL-3.0-or-later
// The token loop takes nothing from the heap: counted in malloc itself, on the compute thread and
// on the I/O thread, from the first decoded token to the last.
#include <QtTest>

#include <atomic>
#include <cstdlib>

#include "device_agent/engine/whisper/engine.h"
#include "sim_engine/model/card_catalog.h"
#include "tests/integration/engine_run.h"
#include "tests/integration/random_model.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void note() {
    if (counting.load(std::memory_order_relaxed))
        allocations.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

// Stand before those of the C library; operator new comes through here.
extern "C" void* malloc(std::size_t n) {
    return note(), __libc_malloc(n);
}
extern "C" void* calloc(std::size_t n, std::size_t size) {
    return note(), __libc_calloc(n, size);
}
extern "C" void* realloc(void* p, std::size_t n) {
    return note(), __libc_realloc(p, n);
}

using namespace shardscope;

class TestNoAllocation : public QObject {
    Q_OBJECT
private slots:
    void decodingTakesNothingFromTheHeap_data() {
        QTest::addColumn<QByteArray>("pin");
        QTest::addColumn<QByteArray>("policy");
        QTest::newRow("resident") << QByteArray("auto") << QByteArray("pin");
        QTest::newRow("streamed") << QByteArray("none") << QByteArray("pin");
        QTest::newRow("cached") << QByteArray("10MiB") << QByteArray("lru");
    }
    void decodingTakesNothingFromTheHeap() {
        QFETCH(QByteArray, pin);
        QFETCH(QByteArray, policy);
        check(
            tests::sampleModel(),
            tests::configOf(
                {{"--pin", pin.constData()},
                 {"--policy", policy.constData()},
                 {"--max-tokens", "30"},
                 {"--threads", "2"}}),
            true);
    }

    void norDoTimestampsAndTheSearchForTheLanguage() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("model.bin").toStdString();
        // Timestamps and end of text that are seldom chosen: the text goes on to its last token.
        QVERIFY(tests::writeRandomModel({.timestampScale = 0.5f}, path).ok());
        check(
            path,
            tests::configOf(
                {{"--timestamps", "on"},
                 {"--language", "auto"},
                 {"--max-tokens", "30"},
                 {"--threads", "2"}}),
            false);
    }

    void norDoBeams_data() {
        QTest::addColumn<QByteArray>("timestamps");
        QTest::addColumn<QByteArray>("crossKv");
        QTest::newRow("text") << QByteArray("off") << QByteArray("f16");
        QTest::newRow("timestamps, shared") << QByteArray("on") << QByteArray("shared");
    }
    void norDoBeams() {
        QFETCH(QByteArray, timestamps);
        QFETCH(QByteArray, crossKv);
        QTemporaryDir folder;
        const std::string path = folder.filePath("model.bin").toStdString();
        // No end of text, which would end beams; that they split and die is what counts here.
        QVERIFY(tests::writeRandomModel({.timestampScale = 0.2f}, path).ok());
        check(
            path,
            tests::configOf(
                {{"--timestamps", timestamps.constData()},
                 {"--cross-kv", crossKv.constData()},
                 {"--beam", "5"},
                 {"--max-tokens", "30"},
                 {"--threads", "2"}}),
            false);
    }

private:
    static void check(const std::string& path, const plan::RunConfig& config, bool rawGreedy) {
        auto card = model::loadCard(path);
        QVERIFY(card.ok());
        auto plan = plan::planOrError(
            std::make_shared<const model::ModelCard>(std::move(*card)), config, tests::testBoard());
        QVERIFY(plan.ok());
        // Nobody drains the rings here: they are large enough for all events of the run.
        trace::EventRing compute(1 << 16), io(1 << 16);
        engine::RunRequest request;
        request.modelPath = path;
        request.audioPath = tests::sampleClip("syn-000.wav");
        request.rawGreedy = rawGreedy;
        auto engine = engine::Engine::open(*plan, request, {compute, io});
        QVERIFY(engine.ok());
        allocations.store(0);
        const engine::RunClock clock;
        // The tokens of beams are told when all is over; their steps are told as they come.
        const auto step = config.beam > 1 ? trace::EventKind::Step : trace::EventKind::Token;
        // Two runs of other lengths allocate the same only if no token costs an allocation; here a
        // watcher starts to count when decoding has begun.
        std::atomic<bool> over{false};
        std::atomic<std::uint64_t> lastToken{0};
        std::thread watcher([&] {
            trace::Event events[64];
            while (!over.load()) {
                for (std::size_t n = compute.drain(events), i = 0; i < n; ++i) {
                    if (events[i].kind == step) {
                        counting.store(events[i].a < 28);
                        lastToken.store(events[i].a);
                    }
                    if (events[i].kind == trace::EventKind::RunEnd)
                        return;
                }
            }
        });
        const base::Status status = (*engine)->run(clock);
        over.store(true);
        watcher.join();
        counting.store(false);
        QVERIFY(status.ok());
        trace::Event rest[64]; // what the watcher left when the run was over
        for (std::size_t n = 0; (n = compute.drain(rest)) > 0;)
            for (std::size_t i = 0; i < n; ++i)
                if (rest[i].kind == step)
                    lastToken.store(rest[i].a);
        QCOMPARE(lastToken.load(), std::uint64_t{29});
        QCOMPARE(allocations.load(), 0);
    }
};

QTEST_GUILESS_MAIN(TestNoAllocation)
#include "tst_no_allocation.moc"
