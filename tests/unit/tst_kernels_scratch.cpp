// SPDX-License-Identifier: GPL-3.0-or-later
// The planner knows the kernels' scratch by its own formulas; these must never be the smaller ones.
#include <QtTest>

#include "device_agent/engine/kernels/decode_attention.h"
#include "device_agent/engine/kernels/encoder_attention.h"
#include "device_agent/engine/kernels/gemm.h"
#include "device_agent/engine/kernels/shared_attention.h"
#include "sim_engine/model/kernel_scratch.h"

using namespace shardscope::engine;
using namespace shardscope::model;

class TestKernelScratch : public QObject {
    Q_OBJECT
private slots:
    void plannerLeavesRoomForProducts() {
        for (const std::int64_t outer : {1, 63, 64, 384, 1536, 5120, 51865})
            for (const std::int64_t inner : {1, 3, 64, 240, 384, 641, 1152, 1280, 1536, 5120})
                for (const unsigned threads : {1u, 2u, 8u}) {
                    const auto depth = static_cast<std::size_t>(inner);
                    const std::size_t least = matMulLeastScratch(inner, threads).size();
                    QVERIFY(least >= kernels::gemmLeastScratchBytes(depth, threads));
                    QVERIFY(
                        least <=
                        matMulScratch(std::max<std::int64_t>(outer, 64), inner, threads).size());
                    for (const std::size_t bytes : {least, least + 100000, 3 * least}) {
                        const auto block = kernels::gemmBlock(
                            static_cast<std::size_t>(outer), depth, threads, bytes);
                        QVERIFY(kernels::gemmScratchBytes(block, depth, threads) <= bytes);
                    }
                    QVERIFY(
                        matMulScratch(outer, inner, threads).size() >=
                        kernels::gemmScratchBytes(
                            static_cast<std::size_t>(outer), static_cast<std::size_t>(inner),
                            threads));
                }
    }

    void plannerLeavesRoomForAttention() {
        for (const std::int64_t positions : {1, 47, 48, 49, 448, 750, 1500})
            for (const unsigned threads : {1u, 2u, 8u}) {
                const auto n = static_cast<std::size_t>(positions);
                for (const std::int64_t dims : {8, 64, 80, 128})
                    QVERIFY(
                        attentionScratch(positions, dims, threads).size() >=
                        kernels::encoderAttentionScratchBytes(
                            n, static_cast<std::size_t>(dims), threads));
                QVERIFY(
                    decodeAttentionScratch(positions, threads).size() >=
                    kernels::decodeAttentionScratchBytes(n, threads));
                for (const std::int64_t heads : {1, 6, 20})
                    QVERIFY(
                        sharedAttentionScratch(positions, 64 * heads, heads).size() >=
                        kernels::sharedAttentionScratchBytes(
                            n, static_cast<std::size_t>(64 * heads),
                            static_cast<std::size_t>(heads)));
            }
    }
};

QTEST_APPLESS_MAIN(TestKernelScratch)
#include "tst_kernels_scratch.moc"
