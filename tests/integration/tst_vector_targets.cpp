// SPDX-License-Identifier: GPL-3.0-or-later
// Every instruction set that this processor has, through whole runs: within one of them sharding,
// budget, loader and threads change no bit; from one to another the numbers stay close. So a
// processor without the widest vectors is tested by one that has them.
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device_agent/engine/kernels/vector_targets.h"
#include "tests/integration/engine_run.h"

using namespace shardscope;
namespace kernels = engine::kernels;

class TestVectorTargets : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }
    void cleanup() { kernels::useVectorTarget(0); }

    void nothingButTheTargetChangesABit_data() {
        QTest::addColumn<std::size_t>("target");
        QTest::addColumn<bool>("shared");
        for (std::size_t i = 0; i < kernels::vectorTargetCount(); ++i)
            for (const bool shared : {false, true})
                QTest::addRow("%s, %s", kernels::vectorTargetName(i), shared ? "shared, q8" : "f16")
                    << i << shared;
    }
    void nothingButTheTargetChangesABit() {
        QFETCH(std::size_t, target);
        QFETCH(bool, shared);
        kernels::useVectorTarget(target);
        plan::RunConfig config;
        if (shared) {
            config.crossKv = model::KvType::Shared;
            config.kv = model::KvType::Q8;
        }
        const std::vector<float> reference = logits(config);
        QCOMPARE(reference.size(), std::size_t{kSteps} * 51864);
        for (const plan::RunConfig& other : variantsOf(config)) {
            const std::vector<float> changed = logits(other);
            QCOMPARE(changed.size(), reference.size());
            QVERIFY(
                std::memcmp(changed.data(), reference.data(), changed.size() * sizeof(float)) == 0);
        }
        kernels::useVectorTarget(0);
        const std::vector<float> widest = logits(config);
        float most = 0;
        for (std::size_t i = 0; i < reference.size(); ++i)
            most = std::max(most, std::abs(reference[i] - widest[i]));
        QVERIFY2(
            most < (shared ? 0.3f : 1e-2f), qPrintable(QString::number(static_cast<double>(most))));
    }

private:
    static constexpr int kSteps = 3;
    QTemporaryDir m_folder;

    static std::vector<plan::RunConfig> variantsOf(const plan::RunConfig& config) {
        using model::Granularity;
        plan::RunConfig tensors = config, tight = config, alone = config, many = config;
        tensors.encoderShard = tensors.decoderShard = {Granularity::Kind::Tensor, 1};
        tensors.pin.kind = plan::PinChoice::Kind::None;
        tensors.slotCount = 1;
        tight.encoderShard = tight.decoderShard = {Granularity::Kind::Tensor, 1};
        tight.budget = base::kibibytes(7600); // not enough to work the fastest way
        alone.threads = 1;
        many.threads = 3;
        many.loader = plan::Loader::Mmap;
        many.vocabShards = 7;
        return {tensors, tight, alone, many};
    }

    std::vector<float> logits(plan::RunConfig config) const {
        config.maxTokens = kSteps;
        const std::string file = m_folder.filePath("logits").toStdString();
        const auto run = tests::runSample(config, tests::sampleClip("syn-003.wav"), [&](auto& r) {
            r.rawGreedy = true;
            r.dumpLogits = file;
        });
        return run.status.ok() ? tests::floatsOf(file) : std::vector<float>{};
    }
};

QTEST_GUILESS_MAIN(TestVectorTargets)
#include "tst_vector_targets.moc"
