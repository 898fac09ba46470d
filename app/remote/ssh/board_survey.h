// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>

#include <QString>

#include "app/remote/ssh/ssh_link.h"
#include "app/remote/ssh/ssh_options.h"

namespace shardscope::app {

/// What stands on a board, asked for by one command.
struct BoardSurvey {
    QString system;  ///< `uname -s`: "Linux"
    QString machine; ///< `uname -m`: "aarch64"
    QString release; ///< `uname -r`
    QString home;
    QString folder; ///< ours, absolute
    bool writable = false;
    QString refusal;       ///< why not, in the board's own words
    qint64 freeBytes = -1; ///< of the file system of `folder`; -1: not known
    bool hasSha256 = false;
    std::map<QString, qint64> files; ///< what we put there before, relative to `folder`; bytes
};

/// Makes our folder if need be and looks around. Connection error when the link fails, Failed where
/// the board has no POSIX shell. Worker threads.
base::Result<BoardSurvey> surveyBoard(SshLink& link, const SshOptions& options);

/// Failed with a clear word where the survey says that nothing can be put there.
base::Status checkWritable(const SshLink& link, const BoardSurvey& survey);

} // namespace shardscope::app
