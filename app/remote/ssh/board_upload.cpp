// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/board_upload.h"

#include <algorithm>

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>

#include "app/remote/ssh/agent_files.h"
#include "app/remote/ssh/file_hash.h"
#include "app/remote/ssh/ssh_channel.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr qint64 kPiece = 256 << 10; // 256 KiB: larger ones are no faster
constexpr qsizetype kMostWords = 64 << 10;
constexpr qint64 kSpare = 1 << 20; ///< of the disk, for what else goes on there
constexpr int kTries = 2;
constexpr std::chrono::minutes kPatience{1};

/// Feeds a file into the standard input of a command.
class Feeder final : public ChannelUser {
public:
    Feeder(QFile& file, qint64 all, const UploadProgress& progress)
        : m_file(file), m_all(all), m_progress(progress) {
        m_piece.resize(kPiece);
    }
    QByteArrayView toSend() override {
        if (m_from == m_filled && !m_ended) {
            m_filled = std::max<qint64>(m_file.read(m_piece.data(), kPiece), 0);
            m_from = 0;
            m_ended = m_filled == 0;
        }
        return QByteArrayView(m_piece).sliced(m_from, m_filled - m_from);
    }
    void sent(qsizetype n) override {
        m_from += n;
        if (m_from == m_filled)
            m_progress(m_file.pos(), m_all);
    }
    void take(QByteArrayView bytes) override { add(output, bytes); }
    void takeErrors(QByteArrayView bytes) override { add(errors, bytes); }

    QByteArray output, errors;

private:
    static void add(QByteArray& all, QByteArrayView bytes) {
        all.append(bytes.first(std::min(bytes.size(), kMostWords - all.size())));
    }
    QFile& m_file;
    qint64 m_all;
    const UploadProgress& m_progress;
    QByteArray m_piece;
    qint64 m_from = 0, m_filled = 0;
    bool m_ended = false;
};

/// Takes a file's bytes from a command and hashes them.
class Hasher final : public ChannelUser {
public:
    void take(QByteArrayView bytes) override { m_hash.addData(bytes); }
    void takeErrors(QByteArrayView) override {}
    QByteArray hex() const { return m_hash.result().toHex(); }

private:
    QCryptographicHash m_hash{QCryptographicHash::Sha256};
};

class Upload {
public:
    Upload(
        SshLink& link, const BoardSurvey& survey, const BoardFile& file,
        const UploadProgress& progress)
        : m_link(link), m_survey(survey), m_file(file), m_progress(progress), m_local(file.local),
          m_final(survey.folder + QLatin1Char('/') + file.remote),
          m_part(m_final + QStringLiteral(".part")) {}

    Result<QString> run() {
        if (!m_local.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
            return Error{
                ErrorCode::BadInput, "it cannot be read: " + m_local.errorString().toStdString(),
                m_file.local.toStdString(), "check the path"};
        if (sizeThere(m_file.remote) == m_local.size())
            return m_final;
        if (Status status = checkWritable(m_link, m_survey); !status)
            return status.error();
        qint64 from = sizeThere(m_file.remote + QStringLiteral(".part"));
        if (from < 0 || from > m_local.size())
            from = 0;
        if (Status status = checkSpace(from); !status)
            return status.error();
        for (int i = 0; i < kTries; ++i) {
            auto right = send(from);
            if (!right)
                return right.error();
            if (*right)
                return m_final;
            from = 0; // what an earlier try left was damaged
        }
        return failure("the file does not arrive whole", "check the board's storage and memory");
    }

private:
    qint64 sizeThere(const QString& name) const {
        const auto found = m_survey.files.find(name);
        return found == m_survey.files.end() ? -1 : found->second;
    }
    Error failure(const std::string& what, const char* mend) const {
        return {
            ErrorCode::Failed, what, m_link.name().toStdString() + ":" + m_final.toStdString(),
            mend};
    }

    Status checkSpace(qint64 from) const {
        const qint64 needed = m_local.size() - from + kSpare;
        if (m_survey.freeBytes < 0 || m_survey.freeBytes >= needed)
            return {};
        return failure(
            "the board's disk is full: " + base::bytesText(base::Bytes(m_local.size() - from)) +
                " are to be put there, " + base::bytesText(base::Bytes(m_survey.freeBytes)) +
                " are free",
            "free space, or name another folder with --folder");
    }

    /// Ends with one of the words below. A broken link ends the input early: then the size is not
    /// that of the file, and what arrived stays for the next try. A failed write leaves nothing.
    QByteArray script(qint64 from) const {
        const QByteArray size = QByteArray::number(m_local.size());
        return "LC_ALL=C; export LC_ALL; umask 077; p=" + shellQuoted(m_part) +
               "; f=" + shellQuoted(m_final) + "\n" +
               "mkdir -p \"${f%/*}\" || exit 1\n"
               "cat " +
               (from > 0 ? ">>" : ">") +
               " \"$p\" || { rm -f \"$p\"; rmdir \"${f%/*}\" 2>/dev/null; exit 1; }\n"
               "set -- $(ls -ln \"$p\")\n"
               "[ \"$5\" = " +
               size + " ] || { [ \"$5\" -lt " + size +
               " ] && exit 1; rm -f \"$p\"; echo shardscope:wrong; exit 0; }\n"
               "chmod " +
               (m_file.executable ? "700" : "600") +
               " \"$p\" || exit 1\n"
               "sync \"$p\" 2>/dev/null || sync\n"
               "command -v sha256sum >/dev/null 2>&1 || { echo shardscope:unchecked; exit 0; }\n"
               "h=$(sha256sum <\"$p\"); h=${h%% *}\n"
               "[ \"$h\" = " +
               m_file.sha256 +
               " ] || { rm -f \"$p\"; echo shardscope:wrong; exit 0; }\n"
               "mv -f \"$p\" \"$f\" || exit 1\n"
               "echo shardscope:done\n";
    }

    /// True: it is there; false: what is there is not the file, and was removed.
    Result<bool> send(qint64 from) {
        if (!m_local.seek(from))
            return failure("the file cannot be read", "check the disk");
        m_progress(from, m_local.size());
        auto channel = SshChannel::start(m_link, shellCommand(script(from)), Deadline(kPatience));
        if (!channel)
            return channel.error();
        Feeder feeder(m_local, m_local.size(), m_progress);
        auto end = (*channel)->pump(feeder, Deadline::never());
        if (!end)
            return end.error();
        if (feeder.output.contains("shardscope:done"))
            return true;
        if (feeder.output.contains("shardscope:wrong"))
            return false;
        if (feeder.output.contains("shardscope:unchecked"))
            return readBack();
        const CommandOutput said{*end, feeder.output, feeder.errors};
        const std::string words = said.lastError();
        const char* mend = words.find("No space") != std::string::npos
                               ? "free space, or name another folder with --folder"
                               : "check the board's storage, or name another folder with --folder";
        return failure(
            "the board does not take the file: " + (words.empty() ? "it gave no reason" : words),
            mend);
    }

    /// For boards without sha256sum.
    Result<bool> readBack() {
        auto channel = SshChannel::start(m_link, "cat " + shellQuoted(m_part), Deadline(kPatience));
        if (!channel)
            return channel.error();
        Hasher hasher;
        if (auto end = (*channel)->pump(hasher, Deadline::never()); !end)
            return end.error();
        const bool right = hasher.hex() == m_file.sha256;
        const QByteArray part = shellQuoted(m_part);
        const QByteArray settle =
            right ? "mv -f " + part + ' ' + shellQuoted(m_final) : "rm -f " + part;
        auto output = runCommand(m_link, shellCommand(settle), Deadline(kPatience));
        if (!output)
            return output.error();
        if (!output->ok())
            return failure("it cannot be put in place: " + output->lastError(), "check the board");
        return right;
    }

    SshLink& m_link;
    const BoardSurvey& m_survey;
    const BoardFile& m_file;
    const UploadProgress& m_progress;
    QFile m_local;
    QString m_final, m_part;
};

} // namespace

QString remoteName(const QString& kind, const QByteArray& sha256, const QString& local) {
    QString name = QFileInfo(local).fileName();
    for (QChar& c : name) {
        const char16_t u = c.unicode();
        const bool plain = u < 128 && (c.isLetterOrNumber() || u == '.' || u == '_' || u == '-');
        if (!plain)
            c = QLatin1Char('_');
    }
    return kind + QLatin1Char('/') + QString::fromLatin1(sha256.left(16)) + QLatin1Char('/') + name;
}

Result<QString> uploadFile(
    SshLink& link, const BoardSurvey& survey, const BoardFile& file,
    const UploadProgress& progress) {
    return Upload(link, survey, file, progress).run();
}

Result<QString>
deployAgent(SshLink& link, const BoardSurvey& survey, const UploadProgress& progress) {
    auto local = findAgentFor(survey.machine);
    if (!local)
        return local.error();
    auto hash = fileHash(*local, link.wake(), [](double) {});
    if (!hash)
        return hash.error();
    const QString name = QStringLiteral("shardscope-agent-" SHARDSCOPE_VERSION "-") +
                         QString::fromLatin1(hash->left(12));
    const QString folder = QStringLiteral("agents/");
    auto path = uploadFile(link, survey, {*local, folder + name, *hash, true}, progress);
    if (!path)
        return path;
    QByteArray others;
    for (const auto& [file, size] : survey.files)
        if (file.startsWith(folder) && file != folder + name)
            others += ' ' + shellQuoted(survey.folder + QLatin1Char('/') + file);
    if (!others.isEmpty()) {
        // A running one lives on without its name.
        auto removed = runCommand(link, shellCommand("rm -f" + others), Deadline(kPatience));
        if (!removed)
            return removed.error();
    }
    return path;
}

} // namespace shardscope::app
