// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QByteArray>
#include <QByteArrayView>

#include "app/remote/ssh/ssh_link.h"

namespace shardscope::app {

/// What feeds a command on the board and takes what it says. Called on the worker thread.
class ChannelUser {
public:
    virtual ~ChannelUser() = default;
    /// Bytes for its standard input; stays the same until sent(). Empty: nothing now.
    virtual QByteArrayView toSend() { return {}; }
    virtual void sent(qsizetype) {}
    /// With nothing to send: its standard input ends.
    virtual bool sendsNoMore() { return true; }
    /// False holds its output back, and by and by the command itself.
    virtual bool canTake() { return true; }
    virtual void take(QByteArrayView output) = 0;
    virtual void takeErrors(QByteArrayView errors) = 0;
    /// True ends it at once.
    virtual bool isOver() { return false; }
};

/// How a command ended.
struct CommandEnd {
    int status = -1;
    QByteArray signal; ///< "KILL"; empty where it ended by itself
};

/// A command on the board, run through its standard input and output; nothing else is opened.
class SshChannel {
public:
    /// Starts `command` in the shell of the user there.
    static base::Result<std::unique_ptr<SshChannel>>
    start(SshLink& link, const QByteArray& command, const Deadline& deadline);
    ~SshChannel();

    /// Moves bytes both ways until the command ends. Connection error when the link does, or the
    /// time is up.
    base::Result<CommandEnd> pump(ChannelUser& user, const Deadline& deadline);

private:
    SshChannel(SshLink& link, LIBSSH2_CHANNEL* channel) : m_link(link), m_channel(channel) {}
    int send(ChannelUser& user, bool& moved);
    int receive(ChannelUser& user, int stream, bool& moved);
    int exchange(ChannelUser& user, bool& moved);
    bool hasMore(ChannelUser& user);
    CommandEnd close();

    SshLink& m_link;
    LIBSSH2_CHANNEL* m_channel;
    bool m_inputEnded = false;
    unsigned long m_window = 0; ///< what the other side would have taken at the last turn
    QByteArray m_piece;
};

/// A command with all that it said.
struct CommandOutput {
    CommandEnd end;
    QByteArray output;
    QByteArray errors;

    bool ok() const { return end.status == 0 && end.signal.isEmpty(); }
    /// Its last line of errors, short enough to be shown.
    std::string lastError() const;
};

/// Runs a command that says little, to its end.
base::Result<CommandOutput>
runCommand(SshLink& link, const QByteArray& command, const Deadline& deadline);

/// One word of a POSIX shell, whatever it holds.
QByteArray shellQuoted(const QString& word);
/// A script for `sh`, whatever shell the user has; it may hold anything.
QByteArray shellCommand(const QByteArray& script);

} // namespace shardscope::app
