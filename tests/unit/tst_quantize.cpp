// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "device_agent/engine/kernels/reference.h"
#include "device_agent/engine/quantize/quantize_file.h"
#include "device_agent/engine/quantize/quantize_row.h"
#include "sim_engine/base/crc32c.h"
#include "sim_engine/base/half.h"
#include "sim_engine/model/ggml_whisper_file.h"

using namespace shardscope;
using engine::quantizeRow;
using model::DType;
namespace kernels = shardscope::engine::kernels;

namespace {

const char kSample[] = RESOURCES_DIR "/models/sample-whisper-commands.en.bin";

/// Values without a pattern that a block would know, from integers: the same on every machine.
std::vector<float> plainValues(std::size_t count) {
    std::vector<float> values(count);
    std::uint32_t state = 12345;
    for (float& v : values) {
        state = state * 1664525u + 1013904223u;
        v = (static_cast<float>(state >> 8) - 8388608.0f) * 0x1p-24f;
    }
    return values;
}

std::vector<std::byte> blocksOf(DType type, const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    std::vector<std::byte> bytes(model::rowBytes(type, count).size());
    quantizeRow(type, values.data(), values.size(), bytes.data());
    return bytes;
}

kernels::WeightType kernelType(DType type) {
    return static_cast<kernels::WeightType>(type); // of the same order
}

double elementOf(DType type, const std::vector<std::byte>& bytes, std::size_t i) {
    return kernels::reference::weightAt({bytes.data(), kernelType(type), 1, i + 1}, 0, i);
}

void addTypes() {
    QTest::addColumn<DType>("type");
    for (const DType type : {DType::Q8_0, DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1})
        QTest::newRow(std::string(model::dtypeName(type)).c_str()) << type;
}

std::string lineOf(const base::Result<engine::Quantized>& result) {
    return result ? "" : result.error().line();
}

bool goOn(base::Bytes, base::Bytes) {
    return true;
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace
Q_DECLARE_METATYPE(shardscope::model::DType)

class TestQuantize : public QObject {
    Q_OBJECT
private slots:
    void elementsAreWithinHalfAStep_data() { addTypes(); }
    void elementsAreWithinHalfAStep() {
        QFETCH(const DType, type);
        const std::vector<float> values = plainValues(3200);
        const std::vector<std::byte> bytes = blocksOf(type, values);
        for (std::size_t block = 0; block < values.size(); block += 32) {
            const auto [least, most] = std::minmax_element(
                values.begin() + static_cast<std::ptrdiff_t>(block),
                values.begin() + static_cast<std::ptrdiff_t>(block) + 32);
            const double range = static_cast<double>(*most) - static_cast<double>(*least);
            const double reach = std::max(
                std::fabs(static_cast<double>(*most)), std::fabs(static_cast<double>(*least)));
            // The far side of a centred type is cut off by one step at the most.
            const double step = type == DType::Q8_0   ? reach / 127
                                : type == DType::Q4_0 ? 2 * reach / 8
                                : type == DType::Q5_0 ? 2 * reach / 16
                                : type == DType::Q4_1 ? range / 15
                                                      : range / 31;
            for (std::size_t i = block; i < block + 32; ++i) {
                const double error = elementOf(type, bytes, i) - static_cast<double>(values[i]);
                QVERIFY(std::fabs(error) <= 0.5 * step + 1e-3 * reach);
            }
        }
    }

    // Sums over the bytes that ggml's functions give for the same values.
    void bytesAreThoseOfGgml_data() {
        QTest::addColumn<DType>("type");
        QTest::addColumn<quint32>("sum");
        QTest::newRow("q8_0") << DType::Q8_0 << 0xA407ABF6u;
        QTest::newRow("q4_0") << DType::Q4_0 << 0x2F3CABBFu;
        QTest::newRow("q4_1") << DType::Q4_1 << 0xFA5AA959u;
        QTest::newRow("q5_0") << DType::Q5_0 << 0x616D4ECDu;
        QTest::newRow("q5_1") << DType::Q5_1 << 0x1EEB722Cu;
    }
    void bytesAreThoseOfGgml() {
        QFETCH(const DType, type);
        QFETCH(const quint32, sum);
        const std::vector<std::byte> bytes = blocksOf(type, plainValues(32 * 1000));
        QCOMPARE(base::crc32c(bytes.data(), bytes.size()), sum);
    }

    void aBlockOfZerosIsZero_data() { addTypes(); }
    void aBlockOfZerosIsZero() {
        QFETCH(const DType, type);
        const std::vector<std::byte> bytes = blocksOf(type, std::vector<float>(32, 0.0f));
        for (std::size_t i = 0; i < 32; ++i)
            QCOMPARE(elementOf(type, bytes, i), 0.0);
    }

    void oddValuesDoNoHarm_data() { addTypes(); }
    void oddValuesDoNoHarm() {
        QFETCH(const DType, type);
        for (const float odd :
             {std::numeric_limits<float>::infinity(), NAN, 1e38f, -1e38f, 1e-44f}) {
            std::vector<float> values = plainValues(32);
            values[7] = odd;
            blocksOf(type, values);
            blocksOf(type, std::vector<float>(32, odd));
        }
    }

    void halvesGoThereAndBack() {
        for (unsigned bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float value = base::floatFromHalf(half);
            if (std::isnan(value))
                continue;
            QCOMPARE(value, kernels::reference::halfToFloat(half));
            QCOMPARE(base::halfFromFloat(value), half);
        }
    }

    void aFileHoldsTheSameTensorsInBlocks_data() { addTypes(); }
    void aFileHoldsTheSameTensorsInBlocks() {
        QFETCH(const DType, type);
        const QTemporaryDir folder;
        const std::string out = folder.filePath("out.bin").toStdString();
        base::Bytes last(-1);
        const auto done =
            engine::quantizeFile(kSample, out, type, [&](base::Bytes at, base::Bytes all) {
                const bool isForward = at > last && at < all;
                last = at;
                return isForward;
            });
        QVERIFY2(done, lineOf(done).c_str());
        const auto before = model::readGgmlWhisper(kSample), after = model::readGgmlWhisper(out);
        QVERIFY(before && after);
        QCOMPARE(after->tensors.size(), before->tensors.size());
        QVERIFY(after->hparam("ftype") > 2000);
        QCOMPARE(done->bytesAfter, after->fileBytes);
        int blocks = 0;
        for (std::size_t i = 0; i < after->tensors.size(); ++i) {
            const model::TensorInfo &a = after->tensors[i], &b = before->tensors[i];
            QCOMPARE(a.name, b.name);
            QVERIFY(a.shape == b.shape);
            const bool isConvolution = a.shape.size() == 3;
            const bool isMatrix = b.dtype == DType::F16 && !isConvolution;
            QVERIFY(a.dtype == (isMatrix ? type : b.dtype));
            blocks += isMatrix;
        }
        QCOMPARE(blocks, done->tensors);
        QVERIFY(!QFile::exists(folder.filePath("out.bin.part")));
    }

    void errorsSayWhatToDo_data() {
        QTest::addColumn<QString>("in");
        QTest::addColumn<QString>("out");
        QTest::addColumn<DType>("type");
        QTest::addColumn<QString>("said");
        QTest::newRow("same file") << "m.bin"
                                   << "m.bin" << DType::Q8_0 << "same file";
        QTest::newRow("same by a link") << "m.bin"
                                        << "link.bin" << DType::Q8_0 << "same file";
        QTest::newRow("no type of blocks") << "m.bin"
                                           << "x.bin" << DType::F16 << "no type of blocks";
        QTest::newRow("missing") << "none.bin"
                                 << "x.bin" << DType::Q8_0 << "No such file";
        QTest::newRow("no model") << "text.bin"
                                  << "x.bin" << DType::Q8_0 << "not a ggml";
        QTest::newRow("quantised") << "q.bin"
                                   << "x.bin" << DType::Q8_0 << "quantised already";
        QTest::newRow("no folder") << "m.bin"
                                   << "no/x.bin" << DType::Q8_0 << "No such file";
    }
    void errorsSayWhatToDo() {
        const QTemporaryDir folder;
        QVERIFY(QFile::copy(kSample, folder.filePath("m.bin")));
        QVERIFY(QFile::link(folder.filePath("m.bin"), folder.filePath("link.bin")));
        QFile text(folder.filePath("text.bin"));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write(QByteArray(100, 'x'));
        text.close();
        const auto path = [&](const QString& name) { return folder.filePath(name).toStdString(); };
        QVERIFY(engine::quantizeFile(path("m.bin"), path("q.bin"), DType::Q4_0, goOn));
        QFETCH(const QString, in);
        QFETCH(const QString, out);
        QFETCH(const DType, type);
        QFETCH(const QString, said);
        const auto result = engine::quantizeFile(path(in), path(out), type, goOn);
        QVERIFY2(QString::fromStdString(lineOf(result)).contains(said), lineOf(result).c_str());
        QVERIFY(!QFile::exists(folder.filePath("x.bin")));
        QVERIFY(!QFile::exists(folder.filePath("x.bin.part")));
    }

    void whatIsGivenUpLeavesTheOldFile() {
        const QTemporaryDir folder;
        const QString out = folder.filePath("out.bin");
        QFile old(out);
        QVERIFY(old.open(QIODevice::WriteOnly));
        old.write("old");
        old.close();
        int calls = 0;
        const auto result = engine::quantizeFile(
            kSample, out.toStdString(), DType::Q8_0,
            [&](base::Bytes, base::Bytes) { return ++calls < 10; });
        QVERIFY(!result);
        QCOMPARE(contents(out), QByteArray("old"));
        QVERIFY(!QFile::exists(out + ".part"));
    }
};

QTEST_APPLESS_MAIN(TestQuantize)
#include "tst_quantize.moc"
