// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_channel.h"

#include <algorithm>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr unsigned kWindow = 2 << 20;
constexpr unsigned kPacket = 32 << 10;
constexpr qsizetype kPiece = 64 << 10;
constexpr qsizetype kMostOutput = 4 << 20; ///< of a command that should say little
constexpr std::chrono::seconds kClosing{3};

class Collector final : public ChannelUser {
public:
    explicit Collector(CommandOutput& output) : m_output(output) {}
    void take(QByteArrayView bytes) override { add(m_output.output, bytes); }
    void takeErrors(QByteArrayView bytes) override { add(m_output.errors, bytes); }

private:
    static void add(QByteArray& all, QByteArrayView bytes) {
        all.append(bytes.first(std::min(bytes.size(), kMostOutput - all.size())));
    }
    CommandOutput& m_output;
};

} // namespace

Result<std::unique_ptr<SshChannel>>
SshChannel::start(SshLink& link, const QByteArray& command, const Deadline& deadline) {
    static const char kSession[] = "session";
    auto* channel = link.repeatPointer<LIBSSH2_CHANNEL>(deadline, [&] {
        return libssh2_channel_open_ex(
            link.session(), kSession, sizeof kSession - 1, kWindow, kPacket, nullptr, 0);
    });
    if (!channel)
        return link.failure(link.lastStatus(), "the opening of a channel");
    std::unique_ptr<SshChannel> opened(new SshChannel(link, channel));
    opened->m_piece.resize(kPiece);
    const int status = link.repeat(deadline, [&] {
        return libssh2_channel_process_startup(
            channel, "exec", 4, command.constData(), static_cast<unsigned>(command.size()));
    });
    if (status != 0)
        return link.failure(status, "the start of a command");
    return opened;
}

SshChannel::~SshChannel() {
    if (m_channel)
        m_link.repeat(Deadline(kClosing), [this] { return libssh2_channel_free(m_channel); });
}

int SshChannel::send(ChannelUser& user, bool& moved) {
    if (m_inputEnded)
        return 0;
    const QByteArrayView bytes = user.toSend();
    if (bytes.isEmpty()) {
        if (!user.sendsNoMore())
            return 0;
        const int status = libssh2_channel_send_eof(m_channel);
        m_inputEnded = status == 0;
        return status;
    }
    const ssize_t n = libssh2_channel_write_ex(
        m_channel, 0, bytes.data(), static_cast<std::size_t>(bytes.size()));
    if (n <= 0)
        return static_cast<int>(n);
    user.sent(n);
    moved = true;
    return 0;
}

int SshChannel::receive(ChannelUser& user, int stream, bool& moved) {
    const ssize_t n = libssh2_channel_read_ex(
        m_channel, stream, m_piece.data(), static_cast<std::size_t>(m_piece.size()));
    if (n <= 0)
        return static_cast<int>(n);
    const QByteArrayView bytes = QByteArrayView(m_piece).first(n);
    stream == 0 ? user.take(bytes) : user.takeErrors(bytes);
    moved = true;
    return 0;
}

/// One turn: sends, then takes. A half-sent packet is finished before anything else is called,
/// since the library refuses another one in between.
int SshChannel::exchange(ChannelUser& user, bool& moved) {
    int status = 0;
    if (!libssh2_channel_eof(m_channel)) {
        status = send(user, moved);
        if (status == LIBSSH2_ERROR_EAGAIN && m_link.isSending())
            return 0;
        // A command that has gone takes nothing more; how it ended is told below.
        if (status == LIBSSH2_ERROR_CHANNEL_CLOSED || status == LIBSSH2_ERROR_CHANNEL_EOF_SENT)
            m_inputEnded = true;
        else if (status != 0 && status != LIBSSH2_ERROR_EAGAIN)
            return status;
    }
    for (const int stream : {0, SSH_EXTENDED_DATA_STDERR}) {
        if (stream == 0 && !user.canTake())
            continue;
        do {
            status = receive(user, stream, moved);
        } while (status == LIBSSH2_ERROR_EAGAIN && m_link.isSending() &&
                 m_link.wait(Deadline(kClosing)) == 0);
        if (status != 0 && status != LIBSSH2_ERROR_EAGAIN)
            return status;
    }
    return 0;
}

/// Whether something came in while something else was called: then the socket has nothing to tell,
/// and there is no use in waiting for it.
bool SshChannel::hasMore(ChannelUser& user) {
    if (m_link.isSending())
        return false;
    if (user.canTake() && libssh2_poll_channel_read(m_channel, 1) == 1)
        return true;
    const bool stalled = !m_inputEnded && m_window == 0 && !user.toSend().isEmpty();
    return stalled && libssh2_channel_window_write_ex(m_channel, nullptr) > 0;
}

Result<CommandEnd> SshChannel::pump(ChannelUser& user, const Deadline& deadline) {
    for (;;) {
        bool moved = false;
        m_window = libssh2_channel_window_write_ex(m_channel, nullptr);
        if (const int status = exchange(user, moved); status != 0)
            return m_link.failure(status, "a command");
        if (user.isOver() || (!moved && libssh2_channel_eof(m_channel)))
            return close();
        if (m_link.wake().isCancelled())
            return m_link.failure(SshLink::kCancelled, "a command");
        if (moved || hasMore(user))
            continue;
        if (const int waited = m_link.wait(deadline); waited != 0)
            return m_link.failure(waited, "a command");
    }
}

CommandEnd SshChannel::close() {
    m_link.repeat(Deadline(kClosing), [this] { return libssh2_channel_close(m_channel); });
    CommandEnd end;
    char* name = nullptr;
    std::size_t size = 0;
    libssh2_channel_get_exit_signal(m_channel, &name, &size, nullptr, nullptr, nullptr, nullptr);
    if (name) {
        end.signal = QByteArray(name, static_cast<qsizetype>(size));
        libssh2_free(m_link.session(), name);
    } else {
        end.status = libssh2_channel_get_exit_status(m_channel);
    }
    return end;
}

std::string CommandOutput::lastError() const {
    const QByteArray text = errors.trimmed();
    return text.mid(text.lastIndexOf('\n') + 1).left(300).toStdString();
}

Result<CommandOutput>
runCommand(SshLink& link, const QByteArray& command, const Deadline& deadline) {
    auto channel = SshChannel::start(link, command, deadline);
    if (!channel)
        return channel.error();
    CommandOutput output;
    Collector collector(output);
    auto end = (*channel)->pump(collector, deadline);
    if (!end)
        return end.error();
    output.end = *end;
    return output;
}

QByteArray shellQuoted(const QString& word) {
    return '\'' + word.toUtf8().replace('\'', "'\\''") + '\'';
}

QByteArray shellCommand(const QByteArray& script) {
    return "exec sh -c " + shellQuoted(QString::fromUtf8(script));
}

} // namespace shardscope::app
