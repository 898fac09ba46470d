// SPDX-License-Identifier: GPL-3.0-or-later
#include <limits>
#include <random>

#include <sys/stat.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "ggml_file.h"
#include "peak_memory.h"
#include "sim_engine/model/ggml_whisper_file.h"

using namespace shardscope;
using model::ModelCard;
using test::GgmlFile;
using test::ggmlFile;

class TestGgmlWhisperFile : public QObject {
    Q_OBJECT

private slots:
    void readsTheSampleModel();
    void readsASmallFile_data();
    void readsASmallFile();
    void everyTruncationIsBadInputWithItsPlace();
    void hostileHparamsAreRefused_data();
    void hostileHparamsAreRefused();
    void hostileNumbersAreRefused_data();
    void hostileNumbersAreRefused();
    void filesOfAFewBytesAreRefused_data();
    void filesOfAFewBytesAreRefused();
    void aTensorThatStandsTwiceIsRefused();
    void aTensorThatIsMissingIsNamed();
    void whatIsNoFileIsRefused();
    void changedBytesNeverCostMuch();

private:
    /// The outcome of reading these bytes; the file lies in memory where the system allows it.
    base::Result<ModelCard> read(const std::string& bytes) {
        const QString path = m_dir.filePath("m.bin");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(bytes.data(), static_cast<qint64>(bytes.size())) !=
                static_cast<qint64>(bytes.size()))
            qFatal("cannot write the test file");
        file.close();
        return model::readGgmlWhisper(path.toStdString());
    }
    void expectBadInput(const std::string& bytes, const char* part = "") {
        const auto card = read(bytes);
        QVERIFY(!card.ok());
        QCOMPARE(card.error().code, base::ErrorCode::BadInput);
        const std::string line = card.error().line();
        QVERIFY2(line.find("m.bin at offset ") != std::string::npos, line.c_str());
        QVERIFY2(line.find(part) != std::string::npos, line.c_str());
        QVERIFY2(line.size() < 300 && line.find('\n') == std::string::npos, line.c_str());
    }
    QTemporaryDir m_dir;
};

void TestGgmlWhisperFile::readsTheSampleModel() {
    const auto card =
        model::readGgmlWhisper(RESOURCES_DIR "/models/sample-whisper-commands.en.bin");
    QVERIFY2(card.ok(), card.ok() ? "" : card.error().line().c_str());
    QCOMPARE(card->name, std::string("sample-whisper-commands.en.bin"));
    QCOMPARE(card->family, std::string("whisper"));
    QCOMPARE(card->hparam("n_vocab"), std::int64_t{51864});
    QCOMPARE(card->fileBytes.value, std::int64_t{30670859});
    QVERIFY(card->section("mel_filters") && card->section("vocabulary"));
    QVERIFY(card->weightBytes() < card->fileBytes);
    const auto& last = card->tensors.back();
    QCOMPARE(last.offset + last.bytes, card->fileBytes);
    QCOMPARE(card->hparam("no such"), std::int64_t{0});
    QVERIFY(!card->find("no.such.tensor").valid());
    QVERIFY(!card->section("no such"));
}

void TestGgmlWhisperFile::readsASmallFile_data() {
    QTest::addColumn<int>("ftype");
    QTest::addColumn<int>("mels");
    QTest::newRow("f16") << 1 << 80;
    QTest::newRow("f32") << 0 << 80;
    QTest::newRow("f16, 128 mels") << 1 << 128;
}

void TestGgmlWhisperFile::readsASmallFile() {
    QFETCH(int, ftype);
    QFETCH(int, mels);
    model::WhisperShape shape = test::smallShape();
    shape.ftype = ftype;
    shape.mels = mels;
    const GgmlFile file = ggmlFile(shape);
    const auto card = read(file.bytes);
    QVERIFY2(card.ok(), card.ok() ? "" : card.error().line().c_str());
    QCOMPARE(card->tensors.size(), file.tensors.size());
    QCOMPARE(card->section("mel_filters")->offset.size(), file.filters + 8);
    QCOMPARE(card->section("vocabulary")->offset.size(), file.vocabulary);
    const model::TensorInfo& table = card->tensor(card->find("decoder.token_embedding.weight"));
    QCOMPARE(table.rows(), std::int64_t{50000});
    QCOMPARE(table.rowElements(), std::int64_t{16});
    QCOMPARE(table.bytes.value, std::int64_t{50000 * 16 * (ftype == 0 ? 4 : 2)});
}

void TestGgmlWhisperFile::everyTruncationIsBadInputWithItsPlace() {
    const GgmlFile file = ggmlFile();
    const auto cut = [&](std::size_t n) { expectBadInput(file.bytes.substr(0, n)); };
    for (std::size_t n = 0; n < file.filters + 12; ++n)
        cut(n);
    for (std::size_t n = file.vocabulary - 3; n < file.tensors[0] + 40; ++n)
        cut(n);
    for (std::size_t i = 1; i < file.tensors.size(); i += 5)
        for (std::size_t n = file.tensors[i] - 2; n < file.tensors[i] + 50; n += 3)
            cut(n);
    std::mt19937 random(5);
    for (int i = 0; i < 100; ++i)
        cut(random() % file.bytes.size());
    cut(file.bytes.size() - 1);
}

void TestGgmlWhisperFile::hostileHparamsAreRefused_data() {
    QTest::addColumn<int>("field");
    QTest::addColumn<int>("value");
    const char* names[] = {"vocab",        "audio ctx", "audio state", "audio heads",
                           "audio layers", "text ctx",  "text state",  "text heads",
                           "text layers",  "mels",      "ftype"};
    for (int field = 0; field < 11; ++field)
        for (const int value :
             {0, -1, 1, 3, 7, 999999999, std::numeric_limits<int>::max(),
              std::numeric_limits<int>::min(), 0x01000000, 70000}) {
            const bool isFtype = field == 10 && (value >= 0 && (value % 1000 < 4 || value == 7));
            const bool isOneHead = (field == 3 || field == 7) && value == 1;
            if (!isFtype && !isOneHead) // several types of weights are known, one head is a model
                QTest::addRow("%s = %d", names[field], value) << field << value;
        }
}

void TestGgmlWhisperFile::hostileHparamsAreRefused() {
    QFETCH(int, field);
    QFETCH(int, value);
    GgmlFile file = ggmlFile();
    file.set(4 + 4 * static_cast<std::size_t>(field), value);
    expectBadInput(file.bytes);
}

void TestGgmlWhisperFile::hostileNumbersAreRefused_data() {
    QTest::addColumn<quint64>("at");
    QTest::addColumn<int>("value");
    QTest::addColumn<QByteArray>("part");
    const GgmlFile file = ggmlFile();
    const auto row = [](const char* name, std::size_t at, int value, const char* part) {
        QTest::newRow(name) << static_cast<quint64>(at) << value << QByteArray(part);
    };
    row("magic", 0, 0x46554747, "magic");
    row("filter rows", file.filters, 128, "mel filters");
    row("filter rows that wrap", file.filters, 0x40000000, "mel filters");
    row("filter bins", file.filters + 4, 0x7FFFFFFF, "mel filters");
    row("no words", file.vocabulary, 0, "vocabulary");
    row("negative words", file.vocabulary, -5, "vocabulary");
    row("words beyond n_vocab", file.vocabulary, 50001, "vocabulary");
    row("a word of 0xFFFFFFFF", file.vocabulary + 4, -1, "word 0");
    row("a word of 1025", file.vocabulary + 4, 1025, "word 0");
    const std::size_t tensor = file.tensors[1]; // conv1: three dimensions
    row("20 dimensions", tensor, 20, "dimensions");
    row("0 dimensions", tensor, 0, "dimensions");
    row("-1 dimensions", tensor, -1, "dimensions");
    row("a name of 0", tensor + 4, 0, "name");
    row("a name of -1", tensor + 4, -1, "name");
    row("a name of 0x7FFFFFFF", tensor + 4, 0x7FFFFFFF, "name");
    row("type 77", tensor + 8, 77, "type");
    row("type -1", tensor + 8, -1, "type");
    row("f32 where it may be, but larger than the file's shape says", tensor + 8, 0, "");
    row("a dim of 0", tensor + 12, 0, "shape");
    row("a dim of -1", tensor + 12, -1, "shape");
    row("dims that wrap", tensor + 12, 0x40000000, "shape");
    row("a vector that is f16", file.tensors[0] + 8, 1, "f32");
    row("blocks in narrow rows", file.tensors[7] + 8, 8, "");
    row("a name that is none", tensor + 24, 0x2E2E2E2E, "does not have");
}

void TestGgmlWhisperFile::hostileNumbersAreRefused() {
    QFETCH(quint64, at);
    QFETCH(int, value);
    QFETCH(QByteArray, part);
    GgmlFile file = ggmlFile();
    file.set(at, value);
    expectBadInput(file.bytes, part.constData());
}

void TestGgmlWhisperFile::filesOfAFewBytesAreRefused_data() {
    QTest::addColumn<int>("size");
    for (const int size : {0, 1, 4, 8, 73, 88, 152, 4096})
        QTest::addRow("%d bytes", size) << size;
}

void TestGgmlWhisperFile::filesOfAFewBytesAreRefused() {
    QFETCH(int, size);
    for (const char fill : {'\0', '\xFF', '\x01'}) {
        std::string bytes(static_cast<std::size_t>(size), fill);
        expectBadInput(bytes);
        if (size >= 4) {
            bytes.replace(0, 4, "lmgg");
            expectBadInput(bytes);
        }
    }
}

void TestGgmlWhisperFile::aTensorThatStandsTwiceIsRefused() {
    const GgmlFile file = ggmlFile();
    const std::size_t begin = file.tensors[3], end = file.tensors[4];
    expectBadInput(file.bytes + file.bytes.substr(begin, end - begin), "stands twice");
}

void TestGgmlWhisperFile::aTensorThatIsMissingIsNamed() {
    const GgmlFile file = ggmlFile();
    const std::size_t begin = file.tensors[3], end = file.tensors[4];
    std::string bytes = file.bytes;
    bytes.erase(begin, end - begin);
    expectBadInput(bytes, "encoder.conv2.weight");
    bytes = file.bytes;
    bytes.resize(file.tensors.back());
    expectBadInput(bytes, "decoder.ln.bias");
    QVERIFY(read(file.bytes + std::string(5, '\0')).ok() == false); // more than the tensors
}

void TestGgmlWhisperFile::whatIsNoFileIsRefused() {
    QCOMPARE(
        model::readGgmlWhisper(m_dir.filePath("none").toStdString()).error().code,
        base::ErrorCode::BadInput);
    QCOMPARE(
        model::readGgmlWhisper(m_dir.path().toStdString()).error().code, base::ErrorCode::BadInput);
    // A named pipe that nobody writes to must not hold us.
    const std::string pipe = m_dir.filePath("pipe").toStdString();
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    QCOMPARE(model::readGgmlWhisper(pipe).error().code, base::ErrorCode::BadInput);
    QCOMPARE(model::readGgmlWhisper("/dev/null").error().code, base::ErrorCode::BadInput);
}

void TestGgmlWhisperFile::changedBytesNeverCostMuch() {
    const GgmlFile whole = ggmlFile();
    const std::int64_t before = test::peakBytes();
    std::mt19937 random(9);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        GgmlFile file = whole;
        const std::size_t part = random() % 3;
        const std::size_t from = part == 0   ? 0
                                 : part == 1 ? file.vocabulary
                                             : file.tensors[random() % file.tensors.size()];
        const std::size_t at = from + random() % 60;
        file.bytes[at] = static_cast<char>(random());
        refused += !read(file.bytes).ok();
    }
    QVERIFY(refused > 200); // what hits words or weights changes no structure
    QVERIFY(test::peakBytes() - before < std::int64_t{16} << 20);
}

QTEST_GUILESS_MAIN(TestGgmlWhisperFile)
#include "tst_ggml_whisper_file.moc"
