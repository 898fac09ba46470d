// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/tst_kernels_data.h"

#include "device_agent/engine/kernels/elementwise.h"

using namespace shardscope::engine::kernels;

class TestKernelElementwise : public QObject {
    Q_OBJECT
private slots:
    void layerNormAgreesWithTheReference_data() { addVectorTargets(); }
    void layerNormAgreesWithTheReference() {
        const VectorTargetOfRow target;
        ThreadPool pool(2);
        for (const std::size_t width : {1u, 7u, 64u, 100u, 384u}) {
            const std::size_t rows = 70;
            std::vector<float> x = randomFloats(rows * width, 1, 5.0f);
            for (float& v : x)
                v += 30.0f; // a mean far from zero asks for two passes
            const OddBytes weight(WeightType::F32, randomFloats(width, 2));
            const OddBytes bias(WeightType::F32, randomFloats(width, 3));
            std::vector<float> wanted(x.size());
            for (std::size_t r = 0; r < rows; ++r)
                reference::layerNorm(
                    &x[r * width], width, weight.data(), bias.data(), &wanted[r * width]);
            std::vector<float> y(x.size());
            layerNorm(
                pool, x.data(), width, rows, width, weight.data(), bias.data(), y.data(), width);
            QVERIFY(distance(y, wanted) < (width == 1 ? 0.1 : 3e-5));
            layerNorm(
                pool, x.data(), width, rows, width, weight.data(), bias.data(), x.data(), width);
            QVERIFY(sameBits(x, y));
        }
    }

    void geluIsTheTanhForm_data() { addVectorTargets(); }
    void geluIsTheTanhForm() {
        const VectorTargetOfRow target;
        std::vector<float> y;
        for (float v = -20.0f; v < 20.0f; v += 0.001f)
            y.push_back(v);
        y.insert(y.end(), {0.0f, 1e-30f, -1e-30f, 1e4f, -1e4f});
        std::vector<float> wanted;
        for (const float v : y)
            wanted.push_back(static_cast<float>(reference::gelu(static_cast<double>(v))));
        geluInPlace(y.data(), y.size());
        QVERIFY(distance(y, wanted) < 5e-7);
    }

    void softmaxAgreesWithTheReference_data() { addVectorTargets(); }
    void softmaxAgreesWithTheReference() {
        const VectorTargetOfRow target;
        for (const std::size_t count : {1u, 2u, 15u, 16u, 33u, 448u, 1500u}) {
            std::vector<float> x = randomFloats(count, 1, 4.0f);
            std::vector<double> wanted(count);
            for (std::size_t i = 0; i < count; ++i)
                wanted[i] = 0.125 * static_cast<double>(x[i]);
            double all = 0.0;
            for (const double w : wanted)
                all += std::exp(w);
            for (float& v : x)
                v *= 0.125f;
            QVERIFY(
                std::fabs(static_cast<double>(logSumExp(x.data(), count)) - std::log(all)) < 1e-5);
            for (float& v : x)
                v *= 8.0f;
            reference::softmax(wanted.data(), count, wanted.data());
            softmaxInPlace(x.data(), count, 0.125f);
            for (std::size_t i = 0; i < count; ++i)
                QVERIFY(std::fabs(static_cast<double>(x[i]) - wanted[i]) < 1e-6 * wanted[i] + 1e-9);
        }
    }

    void softmaxOfVeryDifferentValuesIsFinite() {
        std::vector<float> x = {-1e30f, 0.0f, -200.0f, 1e4f};
        softmaxInPlace(x.data(), x.size());
        QCOMPARE(x[3], 1.0f);
        for (const float v : x)
            QVERIFY(std::isfinite(v));
    }

    void everyHalfIsUnpackedExactly_data() { addVectorTargets(); }
    void everyHalfIsUnpackedExactly() {
        const VectorTargetOfRow target;
        std::vector<std::uint16_t> halves;
        for (unsigned bits = 0; bits < 0x10000; ++bits)
            if ((bits & 0x7C00) != 0x7C00) // finite
                halves.push_back(static_cast<std::uint16_t>(bits));
        std::vector<float> floats(halves.size());
        unpack(
            WeightType::F16, reinterpret_cast<const std::byte*>(halves.data()), halves.size(),
            floats.data());
        for (std::size_t i = 0; i < halves.size(); ++i)
            QCOMPARE(floats[i], reference::halfToFloat(halves[i]));
    }

    void blocksOfAnyBytesAreUnpackedExactly_data() { addVectorTargets(); }
    void blocksOfAnyBytesAreUnpackedExactly() {
        const VectorTargetOfRow target;
        std::mt19937 random(7);
        for (const WeightType type : kWeightTypes) {
            const std::size_t count = 32 * 500;
            std::vector<std::byte> bytes(weightBytes(type, count) + 1);
            for (std::byte& b : bytes)
                b = static_cast<std::byte>(random());
            // Every float16 is the top of a float32 there; a clear high bit of the exponent keeps
            // both finite.
            const std::size_t unit = weightBlockBytes(type);
            for (std::size_t at = 1; at < bytes.size(); at += unit) {
                bytes[at + (type == WeightType::F32 ? 3 : 1)] &= std::byte{0xBF};
                if (type == WeightType::Q4_1 || type == WeightType::Q5_1)
                    bytes[at + 3] &= std::byte{0xBF};
            }
            const WeightView view{bytes.data() + 1, type, 1, count};
            std::vector<float> floats(count);
            unpack(type, view.data, count, floats.data());
            for (std::size_t i = 0; i < count; ++i)
                QCOMPARE(floats[i], static_cast<float>(reference::weightAt(view, 0, i)));
        }
    }

    void addToAddsAtAnyAddress() {
        std::vector<float> y = randomFloats(37, 1);
        const std::vector<float> before = y;
        const std::vector<float> x = randomFloats(37, 2);
        addTo(y.data(), OddBytes(WeightType::F32, x).data(), 37);
        for (std::size_t i = 0; i < 37; ++i)
            QCOMPARE(y[i], before[i] + x[i]);
    }

    void maxOfFindsTheGreatest() {
        for (const std::size_t count : {1u, 5u, 16u, 100u})
            for (std::size_t at = 0; at < count; ++at) {
                std::vector<float> x(count, -3.0f);
                x[at] = -2.0f;
                QCOMPARE(maxOf(x.data(), count), -2.0f);
            }
    }

    void argmaxTakesTheLowestOfEqualsAndSkips() {
        std::vector<float> x(1000, 0.0f);
        QCOMPARE(argmax(x.data(), 1000, 0, {}).index, std::size_t{0});
        x[300] = x[700] = 2.0f;
        QCOMPARE(argmax(x.data(), 1000, 0, {}).index, std::size_t{300});
        std::vector<std::uint64_t> skip(16, 0);
        skip[300 / 64] |= std::uint64_t{1} << (300 % 64);
        QCOMPARE(argmax(x.data(), 1000, 0, skip).index, std::size_t{700});
        skip[0] |= 1;
        skip[700 / 64] |= std::uint64_t{1} << (700 % 64);
        QCOMPARE(argmax(x.data(), 1000, 0, skip).index, std::size_t{1});
        std::fill(skip.begin(), skip.end(), ~std::uint64_t{0});
        QCOMPARE(argmax(x.data(), 1000, 0, skip).index, Best::kNoIndex);
    }

    void argmaxPassesOverNan() {
        std::vector<float> x(600, NAN);
        QCOMPARE(argmax(x.data(), x.size(), 0, {}).index, Best::kNoIndex);
        x[10] = -5.0f;
        x[400] = -4.0f;
        QCOMPARE(argmax(x.data(), x.size(), 0, {}).index, std::size_t{400});
    }

    void argmaxOfPiecesIsThatOfTheWhole() {
        std::vector<float> x = randomFloats(3001, 5);
        std::vector<std::uint64_t> skip(47, 0x8001000100010001u);
        const Best whole = argmax(x.data(), x.size(), 0, skip);
        for (const std::size_t piece : {1u, 64u, 999u}) {
            Best best;
            for (std::size_t i = 0; i < x.size(); i += piece)
                best = argmax(&x[i], std::min(piece, x.size() - i), i, skip, best);
            QCOMPARE(best.index, whole.index);
            QCOMPARE(best.value, whole.value);
        }
    }
};

QTEST_APPLESS_MAIN(TestKernelElementwise)
#include "tst_kernels_elementwise.moc"
