// SPDX-License-Identifier: GPL-3.0-or-later
// Scans the #include lines of the whole tree and holds the dependency rules of the design: who may
// use whom, which library stands behind which folder, and that no two folders use each other.
#include <map>
#include <set>
#include <vector>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QLibraryInfo>
#include <QRegularExpression>
#include <QTest>

namespace {

const QString kRoot = QDir(QStringLiteral(RESOURCES_DIR "/..")).canonicalPath() + '/';

struct Include {
    QString file;   ///< from the project root
    QString folder; ///< of the file
    QString target; ///< as it is written
    bool quoted = false;
};

bool isIn(const QString& path, const QString& folder) {
    return path == folder || path.startsWith(folder + '/');
}

/// Who may include what of ours, by the longest folder that fits; a folder may always use itself.
const std::vector<std::pair<QString, QStringList>> kMayUse{
    {"sim_engine/base", {}},
    {"sim_engine/model", {"sim_engine/base"}},
    {"sim_engine/trace", {"sim_engine/base", "sim_engine/model"}},
    {"sim_engine/plan", {"sim_engine/base", "sim_engine/model", "sim_engine/trace"}},
    {"sim_engine/sim",
     {"sim_engine/base", "sim_engine/model", "sim_engine/trace", "sim_engine/plan"}},
    {"sim_engine/analyze",
     {"sim_engine/base", "sim_engine/model", "sim_engine/trace", "sim_engine/plan"}},
    {"device_agent/engine",
     {"sim_engine/base", "sim_engine/model", "sim_engine/trace", "sim_engine/plan"}},
    {"device_agent/probes",
     {"sim_engine/base", "sim_engine/model", "sim_engine/trace", "sim_engine/plan",
      "device_agent/engine"}},
    {"device_agent/agent",
     {"sim_engine/base", "sim_engine/model", "sim_engine/trace", "sim_engine/plan",
      "sim_engine/analyze", "device_agent"}},
    {"app", {"sim_engine", "app"}},
    {"ui", {"sim_engine", "app", "ui"}},
};

/// The one file that puts window and services together.
const QString kComposition = QStringLiteral("app/main.cpp");

/// Libraries that stand behind one folder: a header's begin, and who may include it.
struct Fence {
    const char* name;
    const char* pattern;
    QStringList folders;
};

const std::vector<Fence> kFences{
    {"libssh2", "^libssh2", {"app/remote"}},
    {"QCustomPlot", "^qcustomplot", {"ui/plot"}},
    {"SQLite", "^(sqlite3|QtSql|QSql)", {"app/store"}},
    {"libsndfile and soxr", "^(sndfile|soxr)", {"app/jobs"}},
    {"Qt", "^(Q[A-Z]|Qt|q[a-z]+\\.h$)", {"app", "ui"}},
    {"Highway", "^hwy/", {"device_agent/engine/kernels"}},
};

const std::vector<Include>& includes() {
    static const std::vector<Include> all = [] {
        std::vector<Include> found;
        const QRegularExpression line(
            R"(^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">])",
            QRegularExpression::MultilineOption);
        for (const char* top : {"sim_engine", "device_agent", "app", "ui"}) {
            QDirIterator files(
                kRoot + top, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
            while (files.hasNext()) {
                QFile file(files.next());
                if (!file.open(QIODevice::ReadOnly))
                    qFatal("cannot read %s", qPrintable(file.fileName()));
                const QString name = file.fileName().mid(kRoot.size());
                auto matches = line.globalMatch(QString::fromUtf8(file.readAll()));
                while (matches.hasNext()) {
                    const auto match = matches.next();
                    found.push_back(
                        {name, name.left(name.lastIndexOf('/')), match.captured(2),
                         match.captured(1) == QLatin1String("\"")});
                }
            }
        }
        return found;
    }();
    return all;
}

bool isOurs(const Include& include) {
    return QFile::exists(kRoot + include.target);
}

/// Folders that include each other, one way round: "a -> b -> a"; empty where there is no cycle.
QString cycleAmong(const std::map<QString, std::set<QString>>& uses) {
    std::map<QString, int> state; // 1: on the way, 2: done
    QStringList path;
    QString cycle;
    const auto visit = [&](const auto& self, const QString& folder) -> void {
        state[folder] = 1;
        path << folder;
        if (const auto next = uses.find(folder); next != uses.end())
            for (const QString& other : next->second) {
                if (!cycle.isEmpty())
                    return;
                if (state[other] == 1)
                    cycle = (path.mid(path.indexOf(other)) << other).join(" -> ");
                else if (state[other] == 0)
                    self(self, other);
            }
        path.removeLast();
        state[folder] = 2;
    };
    for (const auto& [folder, others] : uses)
        if (cycle.isEmpty() && state[folder] == 0)
            visit(visit, folder);
    return cycle;
}

} // namespace

class TestLayering : public QObject {
    Q_OBJECT

private slots:
    void theTreeIsScanned();
    void includesAreWrittenFromTheRoot();
    void foldersUseOnlyWhatStandsBelow();
    void noTwoFoldersUseEachOther();
    void librariesStayBehindTheirFolder();
    void theBoardSideStaysSmall();
    void servicesHaveNoWidgets();
    void everySourceNamesItsLicence();
    void aCycleWouldBeFound();
};

void TestLayering::theTreeIsScanned() {
    QVERIFY(includes().size() > 300);
}

void TestLayering::includesAreWrittenFromTheRoot() {
    for (const Include& i : includes())
        if (i.quoted && !i.target.endsWith(".moc") && !i.target.startsWith("hwy/"))
            QVERIFY2(isOurs(i), qPrintable(i.file + " includes \"" + i.target + '"'));
}

void TestLayering::foldersUseOnlyWhatStandsBelow() {
    for (const Include& i : includes()) {
        if (!isOurs(i) || i.file == kComposition)
            continue;
        const QString target = i.target.left(i.target.lastIndexOf('/'));
        bool ruled = false;
        for (const auto& [folder, others] : kMayUse) {
            if (!isIn(i.folder, folder))
                continue;
            ruled = true;
            const bool allowed =
                isIn(target, folder) ||
                std::any_of(others.begin(), others.end(), [&](auto& o) { return isIn(target, o); });
            QVERIFY2(allowed, qPrintable(i.file + " may not include " + i.target));
        }
        QVERIFY2(ruled, qPrintable(i.folder + " has no rule"));
    }
}

void TestLayering::noTwoFoldersUseEachOther() {
    std::map<QString, std::set<QString>> uses;
    for (const Include& i : includes()) {
        const QString target = i.target.left(i.target.lastIndexOf('/'));
        if (isOurs(i) && i.file != kComposition && target != i.folder)
            uses[i.folder].insert(target);
    }
    const QString cycle = cycleAmong(uses);
    QVERIFY2(cycle.isEmpty(), qPrintable(cycle));
}

void TestLayering::librariesStayBehindTheirFolder() {
    for (const Include& i : includes())
        for (const Fence& fence : kFences) {
            const bool allowed =
                std::any_of(fence.folders.begin(), fence.folders.end(), [&](auto& folder) {
                    return isIn(i.folder, folder);
                });
            const bool is = QRegularExpression(fence.pattern).match(i.target).hasMatch();
            QVERIFY2(
                allowed || !is, qPrintable(QStringLiteral("%1 includes %2, but %3 belongs to %4")
                                               .arg(i.file, i.target, QLatin1String(fence.name))
                                               .arg(fence.folders.join(" and "))));
        }
}

/// These double the size of a static binary.
void TestLayering::theBoardSideStaysSmall() {
    const QStringList large{"iostream", "sstream",    "fstream", "iomanip",
                            "regex",    "filesystem", "locale"};
    for (const Include& i : includes())
        if (isIn(i.folder, "sim_engine") || isIn(i.folder, "device_agent"))
            QVERIFY2(!large.contains(i.target), qPrintable(i.file + " includes " + i.target));
}

void TestLayering::servicesHaveNoWidgets() {
    const QDir widgets(QLibraryInfo::path(QLibraryInfo::HeadersPath) + "/QtWidgets");
    for (const Include& i : includes())
        if (isIn(i.folder, "app") && i.file != kComposition)
            QVERIFY2(
                !i.target.startsWith("QtWidgets") &&
                    !(i.target.startsWith('Q') && widgets.exists(i.target)),
                qPrintable(i.file + " includes " + i.target));
}

void TestLayering::everySourceNamesItsLicence() {
    for (const char* top : {"sim_engine", "device_agent", "app", "ui", "tests"}) {
        QDirIterator files(
            kRoot + top, {"*.h", "*.cpp", "CMakeLists.txt"}, QDir::Files,
            QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY2(
                file.readLine().contains("SPDX-License-Identifier: GPL-3.0-or-later"),
                qPrintable(file.fileName().mid(kRoot.size())));
        }
    }
}

void TestLayering::aCycleWouldBeFound() {
    QCOMPARE(cycleAmong({{"a", {"b"}}, {"b", {"c", "d"}}, {"d", {"a"}}}), "a -> b -> d -> a");
    QCOMPARE(cycleAmong({{"a", {"b", "c"}}, {"b", {"c"}}}), QString());
}

QTEST_GUILESS_MAIN(TestLayering)
#include "tst_layering.moc"
