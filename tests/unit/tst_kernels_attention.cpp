// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/tst_kernels_data.h"

using namespace shardscope::engine;
using namespace shardscope::engine::kernels;
using kv::KvType;

namespace {

constexpr std::size_t kHeads = 3;
const KvType kTypes[] = {KvType::F32, KvType::F16, KvType::Q8, KvType::Q4};

/// Q, K, V of `n` positions and a cache whose parts stand at odd addresses in garbage.
struct Rows {
    Rows(std::size_t n, std::size_t dims)
        : n(n), width(kHeads * dims), q(randomFloats(n * width, 1)), k(randomFloats(n * width, 2)),
          v(randomFloats(n * width, 3)), scale(1.0f / std::sqrt(static_cast<float>(dims))) {}

    EncoderAttention attention(std::vector<float>& out) const {
        return {q.data(),   width, k.data(), width,  v.data(),       width,
                out.data(), width, n,        kHeads, width / kHeads, scale};
    }

    std::size_t n, width;
    std::vector<float> q, k, v;
    float scale;
};

struct Cache {
    Cache(KvType type, std::size_t capacity, std::size_t dims) {
        view.shape = {type, kHeads, dims, capacity};
        for (std::vector<std::byte>* part : {&keys, &values})
            part->assign(kv::kvPartBytes(view.shape) + 1, std::byte{0xFF});
        view.keys = keys.data() + 1;
        view.values = values.data() + 1;
    }
    void store(ThreadPool& pool, const Rows& rows, std::size_t first, std::size_t count) {
        storeKeys(pool, view, first, count, &rows.k[first * rows.width], rows.width);
        storeValues(pool, view, first, count, &rows.v[first * rows.width], rows.width);
    }
    std::vector<float> attend(unsigned threads, const Rows& rows, std::size_t positions) {
        ThreadPool pool(threads);
        std::vector<float> out(rows.width);
        std::vector<std::byte> scratch(decodeAttentionScratchBytes(view.shape.capacity, threads));
        decodeAttention(pool, view, positions, rows.q.data(), rows.scale, out.data(), scratch);
        return out;
    }

    KvCache view;
    std::vector<std::byte> keys, values;
};

std::vector<float> encoderOf(unsigned threads, const Rows& rows) {
    ThreadPool pool(threads);
    std::vector<float> out(rows.n * rows.width);
    std::vector<std::byte> scratch(
        encoderAttentionScratchBytes(rows.n, rows.width / kHeads, threads));
    encoderAttention(pool, rows.attention(out), scratch);
    return out;
}

} // namespace

class TestKernelAttention : public QObject {
    Q_OBJECT
private slots:
    void encoderAttentionAgreesWithTheReference_data() { addVectorTargets(); }
    void encoderAttentionAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const std::size_t dims : {8u, 24u, 64u, 80u, 128u})
            for (const std::size_t n : {1u, 33u, 150u}) {
                const Rows rows(n, dims);
                std::vector<float> wanted(n * rows.width);
                reference::encoderAttention(rows.attention(wanted));
                const std::vector<float> got = encoderOf(1, rows);
                QVERIFY(distance(got, wanted) < 3e-6);
                QVERIFY(sameBits(encoderOf(3, rows), got));
            }
    }

    void encoderAttentionMayOverwriteItsQueries() {
        const Rows rows(100, 64);
        Rows inPlace = rows;
        ThreadPool pool(2);
        std::vector<std::byte> scratch(encoderAttentionScratchBytes(100, 64, 2));
        encoderAttention(pool, inPlace.attention(inPlace.q), scratch);
        QVERIFY(sameBits(inPlace.q, encoderOf(1, rows)));
    }

    void storedRowsAreWithinTheirRounding_data() { addVectorTargets(); }
    void storedRowsAreWithinTheirRounding() {
        const VectorTargetOfRow target;
        const std::size_t dims = 24, n = 70;
        const Rows rows(n, dims);
        ThreadPool pool(2);
        for (const KvType type : kTypes) {
            Cache cache(type, n, dims);
            cache.store(pool, rows, 0, 21);
            for (std::size_t i = 21; i < n; ++i)
                cache.store(pool, rows, i, 1);
            for (std::size_t head = 0; head < kHeads; ++head)
                for (std::size_t i = 0; i < n; ++i)
                    for (const bool isKey : {true, false}) {
                        const float* row =
                            (isKey ? &rows.k[0] : &rows.v[0]) + i * rows.width + head * dims;
                        double most = 0.0;
                        for (std::size_t dim = 0; dim < dims; ++dim)
                            most = std::max(most, std::fabs(static_cast<double>(row[dim])));
                        for (std::size_t dim = 0; dim < dims; ++dim) {
                            const double got = isKey ? reference::keyAt(cache.view, head, i, dim)
                                                     : reference::valueAt(cache.view, head, i, dim);
                            const double error = std::fabs(got - static_cast<double>(row[dim]));
                            const double half =
                                reference::halfToFloat(reference::floatToHalf(row[dim]));
                            switch (type) {
                            case KvType::F32:
                                QCOMPARE(error, 0.0);
                                break;
                            case KvType::F16:
                                QCOMPARE(got, half);
                                break;
                            case KvType::Q8:
                                QVERIFY(error <= most / 127 * 0.50001);
                                break;
                            case KvType::Q4:
                                QVERIFY(error <= most / 7 * 0.50001);
                                break;
                            }
                        }
                    }
        }
    }

    void anAllZeroRowHasScaleOne() {
        Rows rows(1, 64);
        std::fill(rows.k.begin(), rows.k.end(), 0.0f);
        ThreadPool pool(1);
        for (const KvType type : {KvType::Q8, KvType::Q4}) {
            Cache cache(type, 1, 64);
            cache.store(pool, rows, 0, 1);
            float scale = 0.0f;
            std::memcpy(
                &scale, cache.view.keys + kv::kvScalesOffset(cache.view.shape), sizeof scale);
            QCOMPARE(scale, 1.0f);
            QCOMPARE(reference::keyAt(cache.view, 0, 0, 5), 0.0);
        }
    }

    void halvesAreRoundedToNearestEven_data() { addVectorTargets(); }
    void halvesAreRoundedToNearestEven() {
        const VectorTargetOfRow target;
        ThreadPool pool(1);
        const float cases[] = {
            1.0f + 1.0f / 2048,
            1.0f + 3.0f / 2048,
            65504.0f,
            6e-8f,
            2.9e-8f,
            3.1e-5f,
            6.1e-5f,
            -0.0f,
            6.09e-5f,
            1e-3f,
            2049.0f,
            2051.0f};
        Rows rows(1, 8);
        for (const float x : cases) {
            rows.v[0] = x;
            Cache cache(KvType::F16, 1, 8);
            cache.store(pool, rows, 0, 1);
            std::uint16_t bits = 0;
            std::memcpy(&bits, cache.view.values, sizeof bits);
            QCOMPARE(bits, reference::floatToHalf(x));
        }
    }

    void decodeAttentionAgreesWithTheReference_data() { addVectorTargets(); }
    void decodeAttentionAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const KvType type : kTypes)
            for (const std::size_t dims : {8u, 24u, 64u, 80u, 128u}) {
                const Rows rows(200, dims);
                ThreadPool pool(2);
                Cache cache(type, 201, dims);
                cache.store(pool, rows, 0, 200);
                for (const std::size_t n : {1u, 15u, 16u, 17u, 129u, 200u}) {
                    std::vector<float> wanted(rows.width);
                    reference::decodeAttention(
                        cache.view, n, rows.q.data(), rows.scale, wanted.data());
                    const std::vector<float> got = cache.attend(1, rows, n);
                    QVERIFY(distance(got, wanted) < 3e-6);
                    QVERIFY(sameBits(cache.attend(3, rows, n), got));
                }
            }
    }

    void decodeAttentionDependsNotOnHowRowsWereStored() {
        const Rows rows(50, 64);
        ThreadPool pool(2);
        for (const KvType type : kTypes) {
            Cache bulk(type, 50, 64), single(type, 448, 64);
            bulk.store(pool, rows, 0, 50);
            for (std::size_t i = 0; i < 50; ++i)
                single.store(pool, rows, i, 1);
            QVERIFY(sameBits(bulk.attend(1, rows, 50), single.attend(1, rows, 50)));
        }
    }

    void rowsOfSeveralCachesGiveTheBitsOfOne_data() { addVectorTargets(); }
    void rowsOfSeveralCachesGiveTheBitsOfOne() {
        const VectorTargetOfRow target;
        constexpr std::size_t kCapacity = 120, kSlots = 4;
        ThreadPool pool(2);
        std::mt19937 random(5);
        for (const KvType type : kTypes)
            for (const std::size_t dims : {8u, 24u, 64u}) {
                const Rows rows(kCapacity, dims);
                Cache one(type, kCapacity, dims);
                one.store(pool, rows, 0, kCapacity);
                // Only the rows that are seen hold numbers; one list changes slots now and then, as
                // beams do, the other at every position.
                for (const unsigned often : {1u, 20u}) {
                    const std::size_t part = kv::kvPartBytes(one.view.shape);
                    std::vector<std::byte> all(kSlots * 2 * part + 1, std::byte{0xFF});
                    std::vector<std::uint8_t> places(kCapacity);
                    KvCache seen = one.view;
                    seen.slotOf = places.data();
                    seen.slotStride = 2 * part;
                    seen.keys = all.data() + 1;
                    seen.values = seen.keys + part;
                    for (std::size_t i = 0; i < kCapacity; ++i) {
                        places[i] = i > 0 && random() % often != 0
                                       ? places[i - 1]
                                       : static_cast<std::uint8_t>(random() % kSlots);
                        KvCache own = seen;
                        own.keys += places[i] * seen.slotStride;
                        own.values += places[i] * seen.slotStride;
                        storeKeys(pool, own, i, 1, &rows.k[i * rows.width], rows.width);
                        storeValues(pool, own, i, 1, &rows.v[i * rows.width], rows.width);
                    }
                    for (const std::size_t n : {1u, 15u, 16u, 17u, 33u, 119u, 120u}) {
                        std::vector<float> got(2 * rows.width);
                        std::vector<std::byte> scratch(decodeAttentionScratchBytes(kCapacity, 2));
                        const DecodeQuery queries[] = {
                            {seen, n, rows.q.data(), got.data()},
                            {one.view, n, rows.q.data(), got.data() + rows.width}};
                        decodeAttention(pool, queries, rows.scale, scratch);
                        const std::vector<float> wanted = one.attend(1, rows, n);
                        QVERIFY(
                            sameBits({got.begin(), got.begin() + qsizetype(rows.width)}, wanted));
                        QVERIFY(sameBits({got.begin() + qsizetype(rows.width), got.end()}, wanted));
                    }
                }
            }
    }

    void sharedAttentionAgreesWithTheReference_data() { addVectorTargets(); }
    void sharedAttentionAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const WeightType type : kWeightTypes)
            for (const std::size_t heads : {1u, 3u, 5u})
                for (const std::size_t dims : {8u, 32u, 40u, 64u}) {
                    const std::size_t width = heads * dims, n = 77;
                    if (!canHold(type, width))
                        continue;
                    const std::vector<float> encoded = randomFloats(n * width, 1);
                    const std::vector<float> q = randomFloats(width, 2);
                    const OddBytes wk(type, randomFloats(width * width, 3, 0.1f));
                    const OddBytes wv(type, randomFloats(width * width, 4, 0.1f));
                    const OddBytes bias(WeightType::F32, randomFloats(width, 5));
                    const SharedAttention at{encoded.data(),
                                             n,
                                             heads,
                                             {wk.data(), type, width, width},
                                             {wv.data(), type, width, width},
                                             bias.data(),
                                             0.125f};
                    std::vector<float> wanted(width);
                    reference::sharedAttention(at, q.data(), wanted.data());
                    std::vector<float> first;
                    for (const unsigned threads : {1u, 3u}) {
                        ThreadPool pool(threads);
                        std::vector<float> out = q;
                        std::vector<std::byte> scratch(
                            sharedAttentionScratchBytes(n, width, heads));
                        sharedAttention(pool, at, out.data(), out.data(), scratch);
                        QVERIFY(distance(out, wanted) < 1e-5);
                        QVERIFY(first.empty() || sameBits(first, out));
                        first = out;
                    }
                }
    }
};

QTEST_APPLESS_MAIN(TestKernelAttention)
#include "tst_kernels_attention.moc"
