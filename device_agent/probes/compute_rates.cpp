// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/compute_rates.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "device_agent/probes/kernel_rates.h"
#include "device_agent/probes/mel_rate.h"
#include "device_agent/probes/rate_board.h"
#include "device_agent/probes/stopwatch.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using engine::kernels::ThreadPool;
using model::DType;
using model::KvType;
using model::OpKind;
using plan::KernelClass;

constexpr std::size_t kPrefillRows = 4; ///< of a Whisper prompt

class ComputeProbe {
public:
    ComputeProbe(const ComputeOptions& options)
        : m_options(options), m_kernels(options.threads, options.memory.size()) {
        m_types = {DType::F32, DType::F16};
        if (!options.isQuick)
            for (const DType type :
                 {DType::Q8_0, DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1})
                m_types.push_back(type);
        for (unsigned n = 1; n < options.threads; n *= 2)
            addPool(n);
        addPool(options.threads);
    }

    base::Status round() {
        for (const DType type : m_types)
            products(type);
        attention();
        add({KernelClass::Vector, DType::F32}, false, m_kernels.layerNorm(one()));
        const auto mel = melRate(m_options.folder);
        if (!mel)
            return mel.error();
        m_rates.add({KernelClass::Mel, DType::F32}, false, *mel, 1);
        for (Scaling& s : m_scaling) {
            s.product.add(m_kernels.shortProduct(*s.pool));
            s.stream.add(m_kernels.streamSeconds(*s.pool));
            s.productBeside.add(m_kernels.productBeside(s.pool->threads()));
            s.streamBeside.add(m_kernels.streamBeside(s.pool->threads()));
        }
        m_handOff.add(KernelRates::handOff(*m_scaling.back().pool));
        m_alone.add(KernelRates::opAlone());
        m_choice.add(m_kernels.choice());
        return {};
    }

    void writeTo(plan::BoardProfile& board) const {
        m_rates.writeTo(board);
        const auto rate = [&](KernelClass kernel, DType type) {
            return m_rates.rate({kernel, type}, false);
        };
        const auto classic = [&](OpKind kind, double wide, double narrow) {
            board.opsPerSecond[static_cast<std::size_t>(kind)] = {wide, narrow};
        };
        const auto pair = [&](OpKind kind, KernelClass kernel) {
            classic(kind, rate(kernel, DType::F32), rate(kernel, DType::F16));
        };
        pair(OpKind::MatMul, KernelClass::MatMul);
        pair(OpKind::MatVec, KernelClass::MatVec);
        pair(OpKind::RowGather, KernelClass::RowGather);
        const double mel = rate(KernelClass::Mel, DType::F32);
        const double vector = rate(KernelClass::Vector, DType::F32);
        classic(OpKind::Mel, mel, mel);
        classic(OpKind::Vector, vector, vector);
        classic(
            OpKind::Attention, rate(KernelClass::EncodeAttention, DType::F32),
            rate(KernelClass::DecodeAttention, DType::F16));
        writeScaling(board);
        board.opFixedAloneNs = m_alone.best() * 1e9;
        board.opFixedNs = board.opFixedAloneNs + m_handOff.best() * 1e9;
        board.tokenFixedNs = m_choice.best() * 1e9;
        board.noise = plan::ProbeNoise{m_rates.spread(), 0, 0, {}};
    }

private:
    struct Scaling {
        std::unique_ptr<ThreadPool> pool;
        Rounds product, stream, productBeside, streamBeside;
    };

    void addPool(unsigned threads) {
        m_scaling.push_back({std::make_unique<ThreadPool>(threads), {}, {}, {}, {}});
    }
    ThreadPool& one() { return *m_scaling.front().pool; }
    void add(plan::KernelKey key, bool streamed, const Work& work) {
        m_rates.add(key, streamed, work.operations, work.seconds);
    }
    void products(DType type) {
        add({KernelClass::MatMul, type}, false, m_kernels.product(one(), type, false));
        add({KernelClass::DeepMatMul, type}, false, m_kernels.product(one(), type, true));
        if (type == DType::F32 || type == DType::F16)
            add({KernelClass::Conv, type}, false, m_kernels.convolution(one(), type));
        for (const bool streamed : {false, true}) {
            add({KernelClass::MatVec, type}, streamed, m_kernels.matvec(one(), type, 1, streamed));
            add({KernelClass::RowsMatVec, type}, streamed,
                m_kernels.matvec(one(), type, kPrefillRows, streamed));
        }
        add({KernelClass::SharedAttention, type}, false, m_kernels.sharedAttention(one(), type));
        add({KernelClass::RowGather, type}, false, m_kernels.rowGather(one(), type));
    }
    void attention() {
        add({KernelClass::EncodeAttention, DType::F32}, false, m_kernels.encodeAttention(one()));
        std::vector<KvType> types{KvType::F32, KvType::F16};
        if (!m_options.isQuick)
            types.insert(types.end(), {KvType::Q8, KvType::Q4});
        for (const KvType type : types)
            for (const bool streamed : {false, true})
                add({KernelClass::DecodeAttention, plan::dtypeOf(type)}, streamed,
                    m_kernels.decodeAttention(one(), type, streamed));
    }
    /// What `n` threads gain: by the clock on the wall, unless other programs held them up so much
    /// that what they take from each other says more.
    static double gain(
        unsigned n, const Rounds& one, const Rounds& all, const Rounds& oneBeside,
        const Rounds& allBeside) {
        constexpr double kHeldUp = 0.8;
        const double wall = one.best() / all.best();
        const double beside = n * oneBeside.best() / allBeside.best();
        return n > 1 && wall < kHeldUp * beside ? beside : wall;
    }
    void writeScaling(plan::BoardProfile& board) const {
        const Scaling& first = m_scaling.front();
        const double memory =
            m_kernels.streamBytes() / std::min(first.stream.best(), first.streamBeside.best());
        for (const Scaling& s : m_scaling) {
            const unsigned n = s.pool->threads();
            board.threadScaling.push_back(
                {static_cast<std::int32_t>(n),
                 gain(n, first.product, s.product, first.productBeside, s.productBeside),
                 memory * gain(n, first.stream, s.stream, first.streamBeside, s.streamBeside)});
        }
        const plan::ThreadPoint& last = board.threadScaling.back();
        board.memoryBytesPerSecond = memory;
        board.memoryScale = std::max(1.0, last.memoryBytesPerSecond / memory);
        if (last.threads > 1)
            board.threadEfficiency =
                std::clamp((last.computeSpeedUp - 1) / (last.threads - 1), 0.0, 1.0);
    }

    ComputeOptions m_options;
    KernelRates m_kernels;
    std::vector<DType> m_types;
    std::vector<Scaling> m_scaling; ///< by threads: 1, 2, 4, .. and all
    RateBoard m_rates;
    Rounds m_handOff, m_alone, m_choice;
};

} // namespace

base::Status measureCompute(
    const ComputeOptions& options, const ProbeProgress& progress, plan::BoardProfile& board) {
    const int rounds = options.isQuick ? 3 : 5;
    const double most = options.isQuick ? 4 : 24; // seconds; a slow board gets fewer rounds
    ComputeProbe probe(options);
    double spent = 0;
    for (int i = 0; i < rounds && spent + spent / std::max(i, 1) <= most; ++i) {
        tell(
            progress,
            base::formatted("kernels, memory and threads: round %d of %d", i + 1, rounds));
        base::Status status;
        spent += secondsOf([&] { status = probe.round(); });
        if (!status)
            return status;
    }
    probe.writeTo(board);
    return {};
}

} // namespace shardscope::probes
