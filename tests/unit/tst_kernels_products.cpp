// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/matvec.h"
#include "tests/unit/tst_kernels_data.h"

using namespace shardscope::engine::kernels;

namespace {

struct Shape {
    std::size_t m, n, k;
};

const Shape kShapes[] = {{1, 1, 1},    {3, 5, 7},      {13, 50, 63},   {14, 32, 64},
                         {15, 33, 66}, {77, 200, 240}, {130, 70, 384}, {29, 384, 100},
                         {9, 37, 32},  {20, 65, 224},  {3, 9, 1056}};

/// A product with everything that an epilogue can do; C begins as the addend.
struct Product {
    Product(
        Shape s, WeightType type, WeightOrder order = WeightOrder::Plain, std::size_t overlap = 0)
        : shape(s), lda(s.k - overlap), a(randomFloats(s.m * s.k, 1)),
          w(type, randomFloats(s.n * s.k, 2)), bias(WeightType::F32, randomFloats(s.n, 3)),
          c(randomFloats(s.m * s.n, 4)), view{w.data(), type, s.n, s.k}, order(order) {}

    Gemm gemm(std::vector<float>& out) const {
        Epilogue e = residualEpilogue(bias.data(), out.data(), shape.n);
        e.gelu = true;
        return {a.data(), shape.m, lda, view, order, out.data(), shape.n, e};
    }
    Matvec matvec(std::vector<float>& out) const {
        const Gemm g = gemm(out);
        return {g.a, g.rows, g.lda, g.weights, g.c, g.ldc, g.epilogue};
    }

    Shape shape;
    std::size_t lda;
    std::vector<float> a;
    OddBytes w;
    OddBytes bias;
    std::vector<float> c;
    WeightView view;
    WeightOrder order;
};

std::vector<float> gemmOf(const Product& p, unsigned threads, std::size_t scratchBytes = 0) {
    ThreadPool pool(threads);
    std::vector<float> out = p.c;
    std::vector<std::byte> scratch(
        scratchBytes > 0 ? scratchBytes : gemmScratchBytes(p.shape.n, p.shape.k, threads));
    gemm(pool, p.gemm(out), scratch);
    return out;
}

std::vector<float> matvecOf(const Product& p, unsigned threads) {
    ThreadPool pool(threads);
    std::vector<float> out = p.c;
    matvec(pool, p.matvec(out));
    return out;
}

std::vector<std::pair<WeightType, std::size_t>> typesAndRows() {
    std::vector<std::pair<WeightType, std::size_t>> all;
    for (const WeightType type : kWeightTypes)
        for (const std::size_t m : {1u, 2u, 3u, 4u, 7u, 8u, 11u})
            all.emplace_back(type, m);
    return all;
}

} // namespace

class TestKernelProducts : public QObject {
    Q_OBJECT
private slots:
    void gemmAgreesWithTheReference_data() { addVectorTargets(); }
    void gemmAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const Shape& shape : kShapes)
            for (const WeightType type : kWeightTypes) {
                if (!canHold(type, shape.k))
                    continue;
                const Product p(shape, type);
                std::vector<float> wanted = p.c;
                reference::gemm(p.gemm(wanted));
                QVERIFY(distance(gemmOf(p, 2), wanted) < 5e-5);
            }
    }

    void gemmOfAConvolutionReordersTheTaps_data() { addVectorTargets(); }
    void gemmOfAConvolutionReordersTheTaps() {
        const VectorTargetOfRow target;
        for (const Shape& shape : {Shape{9, 20, 3}, Shape{50, 40, 240}, Shape{21, 7, 153}}) {
            const Product p(shape, WeightType::F16, WeightOrder::Conv3, shape.k / 3 * 2);
            std::vector<float> wanted = p.c;
            reference::gemm(p.gemm(wanted));
            QVERIFY(distance(gemmOf(p, 2), wanted) < 5e-5);
        }
    }

    void gemmOfALargeDepthAgrees() {
        const Product p({150, 200, 5120}, WeightType::F16);
        std::vector<float> wanted = p.c;
        reference::gemm(p.gemm(wanted));
        const std::vector<float> whole = gemmOf(p, 1);
        QVERIFY(distance(whole, wanted) < 1e-3);
        for (const std::size_t more : {0u, 1400000u, 1500000u})
            QVERIFY(sameBits(gemmOf(p, 2, gemmLeastScratchBytes(5120, 2) + more), whole));
    }

    void gemmBitsDependNotOnThreadsOrOtherRows_data() { addVectorTargets(); }
    void gemmBitsDependNotOnThreadsOrOtherRows() {
        const VectorTargetOfRow target;
        for (const WeightType type : kWeightTypes) {
            const Product p({77, 100, 192}, type);
            const std::vector<float> whole = gemmOf(p, 1);
            for (const unsigned threads : {2u, 3u, 5u})
                QVERIFY(sameBits(gemmOf(p, threads), whole));
            // Nor on how much is packed at a time.
            for (const std::size_t bytes : {gemmLeastScratchBytes(192, 2), std::size_t{220000}})
                QVERIFY(sameBits(gemmOf(p, 2, bytes), whole));
            // Any rows of A with any columns of W, at whatever place of a tile they come to stand.
            ThreadPool pool(1);
            std::vector<std::byte> scratch(gemmScratchBytes(100, 192, 1));
            for (const std::size_t row : {0u, 5u, 40u, 76u})
                for (const std::size_t column : {0u, 1u, 31u, 70u}) {
                    const std::size_t rows = std::min<std::size_t>(77 - row, 17);
                    const std::size_t columns = std::min<std::size_t>(100 - column, 45);
                    std::vector<float> out = p.c;
                    Gemm part = p.gemm(out);
                    part.a += row * part.lda;
                    part.rows = rows;
                    part.weights = part.weights.slice(column, columns);
                    part.c += row * part.ldc + column;
                    part.epilogue.bias += column * sizeof(float);
                    part.epilogue.addend = reinterpret_cast<const std::byte*>(part.c);
                    gemm(pool, part, scratch);
                    for (std::size_t r = 0; r < rows; ++r) {
                        const std::size_t at = (row + r) * 100 + column;
                        QVERIFY(sameBits(&out[at], &whole[at], columns));
                    }
                }
        }
    }

    void gemmTouchesNothingBesideItsColumns() {
        const Product p({5, 33, 10}, WeightType::F32);
        std::vector<float> out(5 * 40, -1.0f);
        ThreadPool pool(2);
        std::vector<std::byte> scratch(gemmScratchBytes(33, 10, 2));
        Gemm g{p.a.data(), 5, 10, p.view, WeightOrder::Plain, out.data(), 40, {}};
        gemm(pool, g, scratch);
        for (std::size_t r = 0; r < 5; ++r)
            for (std::size_t c = 33; c < 40; ++c)
                QCOMPARE(out[r * 40 + c], -1.0f);
    }

    void normOnTheWayInHasTheBitsOfLayerNorm_data() { addVectorTargets(); }
    void normOnTheWayInHasTheBitsOfLayerNorm() {
        const VectorTargetOfRow target;
        for (const Shape& s : {Shape{15, 33, 66}, Shape{130, 70, 384}, Shape{31, 300, 1536}}) {
            const Product p(s, WeightType::F16);
            const OddBytes weight(WeightType::F32, randomFloats(s.k, 5));
            const OddBytes bias(WeightType::F32, randomFloats(s.k, 6));
            ThreadPool pool(2);
            std::vector<std::byte> scratch(gemmScratchBytes(s.n, s.k, 2));
            std::vector<float> normed(p.a.size()), wanted = p.c, out = p.c;
            layerNorm(
                pool, p.a.data(), s.k, s.m, s.k, weight.data(), bias.data(), normed.data(), s.k);
            Gemm apart = p.gemm(wanted), together = p.gemm(out);
            apart.a = normed.data();
            together.norm = {weight.data(), bias.data()};
            gemm(pool, apart, scratch);
            gemm(pool, together, scratch);
            QVERIFY(sameBits(out.data(), wanted.data(), wanted.size()));
        }
    }

    void matvecAgreesWithTheReference_data() { addVectorTargets(); }
    void matvecAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const std::size_t m : {1u, 2u, 3u, 5u, 8u, 15u})
            for (const Shape& s : kShapes)
                for (const WeightType type : kWeightTypes) {
                    if (!canHold(type, s.k))
                        continue;
                    const Product p({m, s.n, s.k}, type);
                    std::vector<float> wanted = p.c;
                    reference::matvec(p.matvec(wanted));
                    QVERIFY(distance(matvecOf(p, 2), wanted) < 5e-5);
                }
    }

    void matvecBitsDependNotOnThreadsRowsOrSplits_data() { addVectorTargets(); }
    void matvecBitsDependNotOnThreadsRowsOrSplits() {
        const VectorTargetOfRow target;
        for (const auto& [type, m] : typesAndRows()) {
            const Product p({m, 203, type == WeightType::F16 ? 100u : 96u}, type);
            const std::vector<float> whole = matvecOf(p, 1);
            QVERIFY(sameBits(matvecOf(p, 3), whole));
            ThreadPool pool(2);
            for (std::size_t i = 0; i < m; ++i)
                for (const std::size_t first : {0u, 3u, 100u}) {
                    std::vector<float> out = p.c;
                    Matvec one = p.matvec(out);
                    one.x += i * one.ldx;
                    one.rows = 1;
                    one.weights = one.weights.slice(first, 203 - first);
                    one.y += i * one.ldy + first;
                    one.epilogue.bias += first * sizeof(float);
                    one.epilogue.addend = reinterpret_cast<const std::byte*>(one.y);
                    matvec(pool, one);
                    const std::size_t at = i * 203 + first;
                    QVERIFY(sameBits(&out[at], &whole[at], 203 - first));
                }
        }
    }

    void matvecRunsSeveralProductsAtOnce() {
        const Product p({1, 203, 100}, WeightType::F16);
        const Product q({1, 5, 33}, WeightType::F32);
        std::vector<float> both[] = {p.c, q.c};
        const Matvec products[] = {p.matvec(both[0]), q.matvec(both[1])};
        ThreadPool pool(3);
        matvec(pool, products);
        QVERIFY(sameBits(both[0], matvecOf(p, 1)));
        QVERIFY(sameBits(both[1], matvecOf(q, 1)));
    }
};

QTEST_APPLESS_MAIN(TestKernelProducts)
#include "tst_kernels_products.moc"
