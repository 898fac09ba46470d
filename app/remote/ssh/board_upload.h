// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "app/remote/ssh/board_survey.h"

namespace shardscope::app {

/// A file that is to be on the board.
struct BoardFile {
    QString local;     ///< here
    QString remote;    ///< there, relative to the board's folder; its hash is part of it
    QByteArray sha256; ///< hex
    bool executable = false;
};

/// "models/0123456789abcdef/name.bin": where a file of this hash goes. What a name holds beside
/// letters, digits, '.', '_' and '-' becomes '_'.
QString remoteName(const QString& kind, const QByteArray& sha256, const QString& local);

/// Told while it goes on: bytes that are there, of all.
using UploadProgress = std::function<void(qint64 done, qint64 all)>;

/// Puts a file on the board unless it is there; the absolute path of it. It grows under a
/// temporary name, goes on where an earlier try ended, and gets its name once its hash was checked
/// there. Failed with a clear word, and nothing left behind, where the disk is full or read-only.
/// A lost link leaves what had arrived, for the next try. Worker threads.
base::Result<QString> uploadFile(
    SshLink& link, const BoardSurvey& survey, const BoardFile& file,
    const UploadProgress& progress);

/// Finds the agent for the board, puts it there, and removes other versions of it; its path there.
base::Result<QString>
deployAgent(SshLink& link, const BoardSurvey& survey, const UploadProgress& progress);

} // namespace shardscope::app
