// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/board_survey.h"

#include "app/remote/ssh/ssh_channel.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr std::chrono::seconds kPatience{30};

// Every line that counts begins with a mark: start files of a shell like to greet.
const QByteArray kMark = "shardscope:";

// Only what every POSIX shell and busybox have. Sizes come from ls, since wc reads whole files in
// some. Folders of files that go to the board are private to its user.
QByteArray script(const SshOptions& options) {
    const QByteArray folder = options.folder.isEmpty()
                                  ? "\"${XDG_CACHE_HOME:-$HOME/.cache}/shardscope\""
                                  : shellQuoted(options.folder);
    return "LC_ALL=C; export LC_ALL; umask 077; d=" + folder +
           "\n"
           "case $d in /*) ;; *) d=$HOME/$d ;; esac\n"
           "echo \"shardscope:system $(uname -s)\"\n"
           "echo \"shardscope:machine $(uname -m)\"\n"
           "echo \"shardscope:release $(uname -r)\"\n"
           "echo \"shardscope:home $HOME\"\n"
           "echo \"shardscope:folder $d\"\n"
           "if w=$( (mkdir -p \"$d/agents\" \"$d/models\" \"$d/audio\" && echo x >\"$d/.write\" && "
           "rm -f \"$d/.write\") 2>&1 ); then echo shardscope:writable yes\n"
           "else rm -f \"$d/.write\" 2>/dev/null; echo \"shardscope:refusal $w\"; fi\n"
           "e=$d; while [ ! -d \"$e\" ] && [ -n \"$e\" ]; do e=${e%/*}; done\n"
           "echo \"shardscope:free $(df -Pk \"${e:-/}\" | tail -n 1)\"\n"
           "command -v sha256sum >/dev/null 2>&1 && echo shardscope:sha256 yes\n"
           "ls -lnd \"$d\"/agents/* \"$d\"/models/*/* \"$d\"/audio/*/* 2>/dev/null | "
           "while read -r l; do echo \"shardscope:file $l\"; done\n"
           "echo shardscope:end yes\n";
}

/// "mode links user group size month day time /path", as `ls -ln` prints it.
void takeFile(const QString& line, BoardSurvey& survey) {
    const QStringList words = line.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const qsizetype at = line.indexOf(survey.folder + QLatin1Char('/'));
    if (words.size() < 9 || at < 0 || !line.startsWith(QLatin1Char('-')))
        return;
    survey.files[line.mid(at + survey.folder.size() + 1)] = words[4].toLongLong();
}

void takeLine(const QString& key, const QString& value, BoardSurvey& survey) {
    if (key == QLatin1String("system"))
        survey.system = value;
    else if (key == QLatin1String("machine"))
        survey.machine = value;
    else if (key == QLatin1String("release"))
        survey.release = value;
    else if (key == QLatin1String("home"))
        survey.home = value;
    else if (key == QLatin1String("folder"))
        survey.folder = value;
    else if (key == QLatin1String("writable"))
        survey.writable = true;
    else if (key == QLatin1String("refusal"))
        survey.refusal = value;
    else if (key == QLatin1String("sha256"))
        survey.hasSha256 = true;
    else if (key == QLatin1String("file"))
        takeFile(value, survey);
    else if (key == QLatin1String("free")) {
        // "device blocks used available capacity mount": a device may have spaces, so from behind
        const QStringList words =
            value.section(QLatin1Char('%'), 0, 0).split(QLatin1Char(' '), Qt::SkipEmptyParts);
        bool isNumber = false;
        const qint64 kib = words.value(words.size() - 2).toLongLong(&isNumber);
        survey.freeBytes = isNumber ? kib * 1024 : -1;
    }
}

} // namespace

Result<BoardSurvey> surveyBoard(SshLink& link, const SshOptions& options) {
    auto output = runCommand(link, shellCommand(script(options)), Deadline(kPatience));
    if (!output)
        return output.error();
    BoardSurvey survey;
    bool whole = false;
    for (const QByteArray& line : output->output.split('\n')) {
        if (!line.startsWith(kMark))
            continue;
        const QString text = QString::fromUtf8(line.mid(kMark.size())).trimmed();
        const QString key = text.section(QLatin1Char(' '), 0, 0);
        whole |= key == QLatin1String("end");
        takeLine(key, text.section(QLatin1Char(' '), 1), survey);
    }
    if (!whole)
        return Error{
            ErrorCode::Failed,
            "commands do not run on the board: " +
                (output->errors.isEmpty() ? std::string("no answer") : output->lastError()),
            link.name().toStdString(), "check that this user has a shell and may run commands"};
    return survey;
}

Status checkWritable(const SshLink& link, const BoardSurvey& survey) {
    if (survey.writable)
        return {};
    return Error{
        ErrorCode::Failed,
        "the board's folder cannot be written: " +
            survey.refusal.section(QLatin1Char('\n'), 0, 0).toStdString(),
        link.name().toStdString() + ":" + survey.folder.toStdString(),
        "free space or remount it read-write, or name another folder with --folder"};
}

} // namespace shardscope::app
