// SPDX-License-Identifier: GPL-3.0-or-later
// One program: verbs run without a display, everything else opens the window.
#include <memory>

#include <QApplication>
#include <QCoreApplication>
#include <QFileInfo>

#include "app/cli/demo.h"
#include "app/cli/terminal.h"
#include "app/cli/verbs.h"
#include "app/window_options.h"

namespace shardscope::app {
namespace {

constexpr base::Flag kWindowFlags[] = {
    {"--demo", "", "Runs the sample on an emulated small board."},
    {"--snapshot", "DIR", "Draws every page to PNG files and exits."},
    {"--size", "WxH", "Size of these pictures (1440x900)."},
    {"--help", "", "This help."},
    {"--version", "", "The version."},
};

bool hasDisplay() {
    const auto names = [](const char* variable) { return !qEnvironmentVariableIsEmpty(variable); };
    return names("DISPLAY") || names("WAYLAND_DISPLAY") || names("QT_QPA_PLATFORM");
}

void nameProgram() {
    QCoreApplication::setApplicationName(QStringLiteral("shardscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SHARDSCOPE_VERSION));
}

/// False where it is no size that a window can have.
bool readSize(const std::string& text, WindowOptions& options) {
    const QStringList sides = QString::fromStdString(text).split(QLatin1Char('x'));
    const auto side = [&sides](int i) { return sides.size() == 2 ? sides[i].toInt() : 0; };
    options.width = side(0);
    options.height = side(1);
    return options.width >= 640 && options.width <= 8192 && options.height >= 480 &&
           options.height <= 8192;
}

int openWindow(int argc, char** argv, const base::Args& args) {
    WindowOptions options;
    if (const auto size = args.valueOr("--size", "1440x900"); !readSize(std::string(size), options))
        return fail(
            {base::ErrorCode::Usage, "this is no size of a picture", "--size " + std::string(size),
             "give width x height, e.g. --size 1280x800"});
    if (!args.rest().empty())
        options.file = QString::fromStdString(args.rest().front());
    options.snapshotDir = QString::fromStdString(args.valueOr("--snapshot", ""));
    options.demo = args.has("--demo");
    options.paths = DataPaths::standard();
    const bool snapshot = args.has("--snapshot");
    if (!hasDisplay()) {
        if (!snapshot && options.demo) {
            QCoreApplication headless(argc, argv);
            return runDemo();
        }
        if (!snapshot)
            return fail(
                {base::ErrorCode::Failed, "there is no display to open a window on", "DISPLAY",
                 "use the verbs of `shardscope --help`, or --snapshot DIR"});
    }
    // Pictures do not depend on a display, nor on its fonts and scale.
    if (snapshot)
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    if (snapshot && options.demo) {
        // The pictures show the run that was just made.
        if (const int status = runDemo(&options.file); status != 0)
            return status;
    }
    return ui::runWindow(options);
}

int run(int argc, char** argv) {
    nameProgram();
    const Words words(argv + 1, argv + argc);
    if (!words.empty() && findVerb(words.front())) {
        QCoreApplication headless(argc, argv);
        return runVerb(words);
    }
    for (const std::string& word : words)
        if (word == "--help" || word == "-h")
            return print(programHelp()), 0;
    auto args = base::Args::parse(words, kWindowFlags);
    if (!args)
        return fail(args.error());
    if (args->has("--version"))
        return print("shardscope " SHARDSCOPE_VERSION "\n"), 0;
    if (args->rest().size() > 1)
        return fail(
            {base::ErrorCode::Usage, "one file at a time", args->rest()[1],
             "see `shardscope --help`"});
    if (!args->rest().empty() && !QFileInfo::exists(QString::fromStdString(args->rest().front())))
        return fail(unknownWord(args->rest().front()));
    return openWindow(argc, argv, *args);
}

} // namespace
} // namespace shardscope::app

int main(int argc, char** argv) {
    return shardscope::app::run(argc, argv);
}
