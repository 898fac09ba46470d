// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <thread>
#include <vector>

#include <QTest>

#include "sim_engine/trace/event_ring.h"

using namespace shardscope;
using trace::Event;
using trace::EventKind;
using trace::EventRing;

namespace {

Event span(std::uint64_t n) {
    Event e;
    e.t_ns = n;
    e.a = ~n;
    e.kind = EventKind::Compute;
    return e;
}

Event token(std::uint32_t id) {
    Event e;
    e.kind = EventKind::Token;
    e.id = id;
    return e;
}

} // namespace

class TestEventRing : public QObject {
    Q_OBJECT

private slots:
    void givesEventsOldestFirst();
    void aFullRingDropsAndCounts();
    void whatMustArriveIsKeptWhenTheRingIsFull();
    void whatMustArriveWaitsForTheReader();
    void drainsInPieces();
    void oneThreadWritesWhileAnotherReads();
};

void TestEventRing::givesEventsOldestFirst() {
    EventRing ring(16);
    std::vector<Event> out(16);
    std::uint64_t written = 0, read = 0;
    for (int round = 0; round < 100; ++round) { // over the end of the ring again and again
        for (int i = 0; i < 1 + round % 8; ++i)
            ring.push(span(written++));
        const std::size_t n = ring.drain(out);
        for (std::size_t i = 0; i < n; ++i)
            QVERIFY(out[i] == span(read++));
        QCOMPARE(read, written);
    }
    QCOMPARE(ring.takeDropped(), std::uint64_t{0});
}

void TestEventRing::aFullRingDropsAndCounts() {
    EventRing ring(16);
    for (std::uint64_t i = 0; i < 20; ++i)
        ring.push(span(i));
    std::vector<Event> out(32);
    QCOMPARE(ring.drain(out), std::size_t{14}); // two places are kept
    QVERIFY(out[0] == span(0) && out[13] == span(13));
    QCOMPARE(ring.takeDropped(), std::uint64_t{6});
    QCOMPARE(ring.takeDropped(), std::uint64_t{0});
    QCOMPARE(ring.drain(out), std::size_t{0});
    ring.push(span(21));
    QCOMPARE(ring.drain(out), std::size_t{1});
    QVERIFY(out[0] == span(21));
}

void TestEventRing::whatMustArriveIsKeptWhenTheRingIsFull() {
    EventRing ring(16);
    for (std::uint64_t i = 0; i < 20; ++i)
        ring.push(span(i));
    ring.push(token(1));
    ring.push(span(20));
    ring.push(token(2));
    std::vector<Event> out(32);
    QCOMPARE(ring.drain(out), std::size_t{16});
    QVERIFY(out[13] == span(13) && out[14] == token(1) && out[15] == token(2));
    QCOMPARE(ring.takeDropped(), std::uint64_t{7});
}

void TestEventRing::whatMustArriveWaitsForTheReader() {
    constexpr std::uint32_t kTokens = 5000;
    EventRing ring(8);
    std::thread writer([&] {
        for (std::uint32_t i = 0; i < kTokens; ++i) {
            ring.push(token(i));
            ring.push(span(i));
        }
    });
    std::vector<Event> out(3);
    std::uint32_t tokens = 0;
    bool inOrder = true;
    while (tokens < kTokens)
        for (std::size_t i = 0, n = ring.drain(out); i < n; ++i)
            if (out[i].kind == EventKind::Token)
                inOrder = inOrder && out[i] == token(tokens++);
    writer.join();
    QVERIFY(inOrder);
}

void TestEventRing::drainsInPieces() {
    EventRing ring(16);
    for (std::uint64_t i = 0; i < 10; ++i)
        ring.push(span(i));
    std::vector<Event> out(3);
    std::uint64_t read = 0;
    for (std::size_t n = ring.drain(out); n > 0; n = ring.drain(out))
        for (std::size_t i = 0; i < n; ++i)
            QVERIFY(out[i] == span(read++));
    QCOMPARE(read, std::uint64_t{10});
}

void TestEventRing::oneThreadWritesWhileAnotherReads() {
    constexpr std::uint64_t kEvents = 60000;
    EventRing ring(256);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < kEvents; ++i) {
            ring.push(span(i));
            if (i % 64 == 0)
                std::this_thread::yield();
        }
        done = true;
    });
    std::vector<Event> out(100);
    std::uint64_t read = 0, next = 0;
    bool ordered = true;
    for (bool last = false;;) {
        const std::size_t n = ring.drain(out);
        for (std::size_t i = 0; i < n; ++i, ++read) {
            ordered = ordered && out[i].t_ns >= next && out[i].a == ~out[i].t_ns;
            next = out[i].t_ns + 1;
        }
        if (n == 0 && last)
            break;
        last = n == 0 && done;
    }
    writer.join();
    QVERIFY(ordered);
    QCOMPARE(read + ring.takeDropped(), kEvents);
}

QTEST_APPLESS_MAIN(TestEventRing)
#include "tst_event_ring.moc"
