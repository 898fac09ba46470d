// SPDX-License-Identifier: GPL-3.0-or-later
// Which folder may include what: the rules of the design, held for every source file.
#include <QtTest>

#include <algorithm>

namespace {

const QStringList kTopFolders{"sim_engine/", "device_agent/", "app/", "ui/", "tests/"};

/// A folder and the project folders that it may include from. The longest folder that fits rules.
struct Rule {
    const char* folder;
    QStringList allowed;
};

const QStringList kCore{
    "sim_engine/base/", "sim_engine/model/", "sim_engine/trace/", "sim_engine/plan/"};

const std::vector<Rule>& rules() {
    static const std::vector<Rule> list{
        {"sim_engine/base/", {"sim_engine/base/"}},
        {"sim_engine/model/", {"sim_engine/base/", "sim_engine/model/"}},
        {"sim_engine/trace/", {"sim_engine/base/", "sim_engine/model/", "sim_engine/trace/"}},
        {"sim_engine/plan/", kCore},
        {"sim_engine/sim/", kCore + QStringList{"sim_engine/sim/"}},
        {"sim_engine/analyze/", kCore + QStringList{"sim_engine/analyze/"}},
        {"device_agent/engine/", kCore + QStringList{"device_agent/engine/"}},
        {"device_agent/probes/",
         kCore + QStringList{"device_agent/engine/", "device_agent/probes/"}},
        {"device_agent/agent/", kCore + QStringList{"sim_engine/analyze/", "device_agent/"}},
        {"app/", {"sim_engine/", "app/"}},
        {"app/main.cpp", {"sim_engine/", "app/", "ui/"}},
        {"ui/", {"sim_engine/", "app/", "ui/"}},
    };
    return list;
}

/// A library by the begin of its headers' names, and the one place that knows it.
struct Library {
    QRegularExpression headers;
    const char* place;
};

const std::vector<Library>& libraries() {
    static const std::vector<Library> list{
        {QRegularExpression("^libssh2"), "app/remote/"},
        {QRegularExpression("^qcustomplot"), "ui/plot/"},
        {QRegularExpression("^(sqlite3|QSql|QtSql)"), "app/store/"},
        {QRegularExpression("^(sndfile|soxr)"), "app/jobs/"},
        {QRegularExpression("^hwy/"), "device_agent/engine/kernels/"},
        {QRegularExpression("^liburing"), "device_agent/engine/weights/"},
    };
    return list;
}

bool isUnder(const QString& name, const QStringList& folders) {
    return std::any_of(folders.begin(), folders.end(), [&](const QString& folder) {
        return name.startsWith(folder);
    });
}

struct Include {
    QString file, header;
    int line = 0;
    bool isOurs = false; ///< not a header of a library or of the build

    QByteArray words() const {
        return QString("%1:%2 includes %3").arg(file).arg(line).arg(header).toUtf8();
    }
};

QStringList sourceFiles() {
    QStringList files;
    const QDir root(PROJECT_DIR);
    for (const char* folder : {"sim_engine", "device_agent", "app", "ui"}) {
        QDirIterator it(
            root.filePath(folder), {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext())
            files.append(root.relativeFilePath(it.next()));
    }
    files.sort();
    return files;
}

QStringList linesOf(const QString& file) {
    QFile in(QDir(PROJECT_DIR).filePath(file));
    if (!in.open(QIODevice::ReadOnly))
        return {};
    return QString::fromUtf8(in.readAll()).split('\n');
}

std::vector<Include> includes() {
    static const QRegularExpression directive("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    std::vector<Include> found;
    for (const QString& file : sourceFiles()) {
        const QStringList lines = linesOf(file);
        for (int i = 0; i < lines.size(); ++i)
            if (const auto match = directive.match(lines[i]); match.hasMatch())
                found.push_back(
                    {file, match.captured(1), i + 1, isUnder(match.captured(1), kTopFolders)});
    }
    return found;
}

const Rule* ruleOf(const QString& file) {
    const Rule* best = nullptr;
    for (const Rule& rule : rules())
        if (file.startsWith(rule.folder) && (!best || qstrlen(rule.folder) > qstrlen(best->folder)))
            best = &rule;
    return best;
}

} // namespace

class TestLayering : public QObject {
    Q_OBJECT

private slots:
    void seesTheSources() { QVERIFY(includes().size() > 500); }

    void foldersIncludeOnlyWhatIsBelowThem() {
        for (const Include& include : includes()) {
            if (!include.isOurs)
                continue;
            const Rule* const rule = ruleOf(include.file);
            QVERIFY2(rule, include.words());
            QVERIFY2(isUnder(include.header, rule->allowed), include.words());
        }
    }

    void theCoreAndTheAgentKnowNoQt() {
        static const QRegularExpression qt("^Q[A-Z]|^Qt");
        for (const Include& include : includes())
            if (isUnder(include.file, {"sim_engine/", "device_agent/"}))
                QVERIFY2(!qt.match(include.header).hasMatch(), include.words());
    }

    void theCoreAndTheAgentStaySmall() {
        // Each of these brings much code into the static agent.
        const QStringList heavy{"iostream", "fstream", "sstream", "regex", "filesystem"};
        for (const Include& include : includes())
            if (isUnder(include.file, {"sim_engine/", "device_agent/"}))
                QVERIFY2(!heavy.contains(include.header), include.words());
    }

    void oneFolderKnowsALibrary() {
        for (const Include& include : includes())
            for (const Library& library : libraries())
                if (library.headers.match(include.header).hasMatch())
                    QVERIFY2(include.file.startsWith(library.place), include.words());
    }

    void servicesKnowNoWidgets() {
        static const QRegularExpression widgets("^(QApplication|QWidget|Q.*Widget|QMainWindow)$");
        for (const Include& include : includes())
            if (include.file.startsWith("app/") && include.file != "app/main.cpp")
                QVERIFY2(!widgets.match(include.header).hasMatch(), include.words());
    }

    void everyFileNamesItsLicence() {
        for (const QString& file : sourceFiles())
            QVERIFY2(
                linesOf(file).value(0) == "// SPDX-License-Identifier: GPL-3.0-or-later",
                file.toUtf8());
    }
};

QTEST_GUILESS_MAIN(TestLayering)
#include "tst_layering.moc"
