// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include <QTest>

#include "sim_engine/base/args.h"

using namespace shardscope::base;

namespace {

constexpr std::array<Flag, 3> kFlags{{
    {"--model", "FILE", "The model."},
    {"--budget", "BYTES", "The budget."},
    {"--json", "", "Prints JSON."},
}};

Result<Args> parse(std::vector<std::string> words) {
    return Args::parse(words, kFlags);
}

} // namespace

class TestArgs : public QObject {
    Q_OBJECT

private slots:
    void tellsFlagsSwitchesAndTheRestApart();
    void refusesWithTheFlagAndWhatToDo_data();
    void refusesWithTheFlagAndWhatToDo();
    void asksForWhatIsRequired();
    void countsFromOneToTheMost();
    void wordsBesideTheFlagsAreRefused();
    void helpIsAligned();
};

void TestArgs::tellsFlagsSwitchesAndTheRestApart() {
    const auto args = parse({"run", "--model", "a.bin", "--json", "--budget=9MiB", "b", "-", "--"});
    QVERIFY(args.ok());
    QCOMPARE(*args->value("--model"), std::string("a.bin"));
    QCOMPARE(*args->value("--budget"), std::string("9MiB"));
    QVERIFY(args->has("--json"));
    QCOMPARE(args->rest(), (std::vector<std::string>{"run", "b", "-", "--"}));
    QCOMPARE(args->valueOr("--model", "x"), std::string("a.bin"));
    QCOMPARE(args->valueOr("--none", "x"), std::string("x"));
    // A value may look like a flag, be empty, or hold the sign.
    const auto odd = parse({"--model", "--json", "--budget="});
    QVERIFY(odd.ok());
    QCOMPARE(*odd->value("--model"), std::string("--json"));
    QCOMPARE(*odd->value("--budget"), std::string());
    QVERIFY(!odd->has("--json"));
    QCOMPARE(*parse({"--model=a=b"})->value("--model"), std::string("a=b"));
}

void TestArgs::refusesWithTheFlagAndWhatToDo_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("part");
    QTest::newRow("a typing error") << QStringList{"--modle", "x"} << "did you mean --model?";
    QTest::newRow("nothing like it") << QStringList{"--frobnicate"} << "see --help";
    QTest::newRow("no value") << QStringList{"--model"} << "give FILE";
    QTest::newRow("twice") << QStringList{"--json", "--json"} << "--json: the flag stands twice";
    QTest::newRow("a switch with a value") << QStringList{"--json=yes"} << "takes no value";
}

void TestArgs::refusesWithTheFlagAndWhatToDo() {
    QFETCH(QStringList, words);
    QFETCH(QString, part);
    std::vector<std::string> all;
    for (const QString& word : words)
        all.push_back(word.toStdString());
    const auto args = Args::parse(all, kFlags);
    QVERIFY(!args.ok());
    QCOMPARE(args.error().code, ErrorCode::Usage);
    QVERIFY2(
        QString::fromStdString(args.error().line()).contains(part), args.error().line().c_str());
}

void TestArgs::asksForWhatIsRequired() {
    const auto args = parse({"--model", "m"});
    QCOMPARE(*args->required("--model"), std::string("m"));
    QCOMPARE(args->required("--budget").error().code, ErrorCode::Usage);
    QCOMPARE(args->required("--budget").error().where, std::string("--budget"));
    QVERIFY(parse({}).ok());
}

void TestArgs::countsFromOneToTheMost() {
    QCOMPARE(*parse({})->count("--budget", 7, 10), 7);
    QCOMPARE(*parse({"--budget", "1"})->count("--budget", 7, 10), 1);
    QCOMPARE(*parse({"--budget", "10"})->count("--budget", 7, 10), 10);
    for (const char* wrong : {"0", "11", "-3", "2.5", "some", "", "99999999999999999999"}) {
        const auto count = parse({"--budget", wrong})->count("--budget", 7, 10);
        QVERIFY(!count.ok());
        QCOMPARE(count.error().code, ErrorCode::Usage);
        QCOMPARE(count.error().where, std::string("--budget"));
    }
}

void TestArgs::wordsBesideTheFlagsAreRefused() {
    QVERIFY(parse({"--json"})->noRest().ok());
    const Status status = parse({"--json", "one", "two"})->noRest();
    QVERIFY(!status.ok());
    QCOMPARE(status.error().code, ErrorCode::Usage);
    QCOMPARE(status.error().where, std::string("one"));
}

void TestArgs::helpIsAligned() {
    QCOMPARE(
        flagHelp(kFlags), std::string("  --model FILE    The model.\n"
                                      "  --budget BYTES  The budget.\n"
                                      "  --json          Prints JSON.\n"));
}

QTEST_APPLESS_MAIN(TestArgs)
#include "tst_args.moc"
