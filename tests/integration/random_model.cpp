// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/random_model.h"

#include <QFile>

#include <cmath>

#include "sim_engine/base/half.h"
#include "sim_engine/model/card_catalog.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::tests {
namespace {

using model::TensorInfo;

/// Numbers of about a normal distribution (the sum of four uniform ones), from SplitMix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}
    float next() {
        std::uint64_t z = m_state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        const auto lane = [z](int i) { return static_cast<double>(z >> (16 * i) & 0xFFFF); };
        return static_cast<float>((lane(0) + lane(1) + lane(2) + lane(3) - 131070) / 37837);
    }

private:
    std::uint64_t m_state;
};

void put(QByteArray& out, std::int32_t value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

QByteArray header(const RandomModel& m) {
    QByteArray out;
    for (const std::int32_t value :
         {0x67676D6C, m.vocab, 1500, m.width, m.heads, m.layers, 448, m.width, m.heads, m.layers,
          80, 1})
        put(out, value);
    return out;
}

QByteArray sampleFilters() {
    const auto path = QStringLiteral(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
    const auto card = model::loadCard(path.toStdString());
    QFile file(path);
    if (!card || !file.open(QIODevice::ReadOnly))
        return {};
    const model::Section* section = card->section("mel_filters");
    file.seek(section->offset.value);
    return file.read(section->bytes.value);
}

QByteArray words(std::int32_t count) {
    constexpr std::int32_t kSpace = 220;
    QByteArray out;
    put(out, count);
    for (std::int32_t i = 0; i < count; ++i) {
        const QByteArray word = i == kSpace ? QByteArray(" ") : " w" + QByteArray::number(i);
        put(out, static_cast<std::int32_t>(word.size()));
        out += word;
    }
    return out;
}

float scaleOf(const RandomModel& m, const TensorInfo& t, std::int64_t row) {
    const std::int32_t eot = m.vocab == 51864 ? 50256 : 50257;
    if (t.name == "decoder.token_embedding.weight")
        return 3 / std::sqrt(static_cast<float>(m.width)) *
               (row == eot || row >= m.vocab - 1501 ? m.timestampScale : 1);
    if (t.name == "decoder.positional_embedding")
        return 0.4f * m.positionScale;
    if (t.dtype == model::DType::F16)
        return 1.5f / std::sqrt(static_cast<float>(t.rowElements()));
    return 0.1f;
}

QByteArray tensor(const RandomModel& m, const TensorInfo& t, Random& random) {
    QByteArray out;
    const bool isHalf = t.dtype == model::DType::F16;
    put(out, static_cast<std::int32_t>(t.shape.size()));
    put(out, static_cast<std::int32_t>(t.name.size()));
    put(out, isHalf ? 1 : 0);
    for (auto extent = t.shape.rbegin(); extent != t.shape.rend(); ++extent)
        put(out, static_cast<std::int32_t>(*extent));
    out.append(t.name.data(), static_cast<qsizetype>(t.name.size()));
    const bool isGain = t.name.ends_with("ln.weight") || t.name.ends_with("ln_post.weight");
    for (std::int64_t row = 0; row < t.rows(); ++row) {
        const float scale = scaleOf(m, t, row);
        for (std::int64_t i = 0; i < t.rowElements(); ++i) {
            const float x = (isGain ? 1.0f : 0.0f) + scale * random.next();
            const std::uint16_t half = base::halfFromFloat(x);
            out.append(
                isHalf ? reinterpret_cast<const char*>(&half) : reinterpret_cast<const char*>(&x),
                isHalf ? sizeof half : sizeof x);
        }
    }
    return out;
}

} // namespace

base::Status writeRandomModel(const RandomModel& m, const std::string& path) {
    QFile file(QString::fromStdString(path));
    const QByteArray filters = sampleFilters();
    if (filters.isEmpty() || !file.open(QIODevice::WriteOnly))
        return base::Error{base::ErrorCode::Failed, "cannot write", path, "check the folder"};
    QByteArray head = header(m);
    put(head, 80);
    put(head, 201);
    file.write(head + filters + words(m.vocab == 51864 ? 50256 : 50257));
    model::WhisperShape shape{m.vocab, 1500,    m.width,  m.heads, m.layers, 448,
                              m.width, m.heads, m.layers, 80,      1};
    Random random(m.seed);
    for (const TensorInfo& t : model::whisperTensors(shape, model::DType::F16))
        file.write(tensor(m, t, random));
    return file.flush() ? base::Status()
                        : base::Error{base::ErrorCode::Failed, "cannot write", path, "make room"};
}

} // namespace shardscope::tests
