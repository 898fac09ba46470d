// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/ssh_flags.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <termios.h>
#include <unistd.h>

#include <QFileInfo>

namespace shardscope::app {

namespace {

/// The controlling terminal, whatever stands on the standard streams; its echo comes back at the
/// end.
class Terminal {
public:
    Terminal() : m_descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {}
    ~Terminal() {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    bool isThere() const { return m_descriptor >= 0; }
    /// What a server says is shown as text, whatever it would do to a terminal.
    void print(QString text) {
        for (QChar& c : text)
            if (!c.isPrint() && c != QLatin1Char('\n'))
                c = QLatin1Char(' ');
        const QByteArray bytes = text.toLocal8Bit();
        [[maybe_unused]] const ssize_t n =
            ::write(m_descriptor, bytes.constData(), static_cast<std::size_t>(bytes.size()));
    }
    /// None where it was interrupted or ended.
    std::optional<QString> readLine(bool shown) {
        termios before{};
        const bool hides = !shown && ::tcgetattr(m_descriptor, &before) == 0;
        if (hides) {
            termios silent = before;
            silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
            ::tcsetattr(m_descriptor, TCSAFLUSH, &silent);
        }
        QByteArray line;
        char c = 0;
        ssize_t n = 0;
        while ((n = ::read(m_descriptor, &c, 1)) == 1 && c != '\n')
            line += c;
        if (hides) {
            ::tcsetattr(m_descriptor, TCSAFLUSH, &before);
            print(QStringLiteral("\n"));
        }
        if (n != 1)
            return {};
        const QString text = QString::fromLocal8Bit(line);
        std::fill(line.begin(), line.end(), '\0');
        return text;
    }

private:
    int m_descriptor;
};

std::optional<QStringList> answersTo(const SshQuestion& question) {
    Terminal terminal;
    if (question.kind == SshQuestion::Kind::NewHost || !terminal.isThere())
        return {};
    if (question.kind == SshQuestion::Kind::Interactive && !question.detail.isEmpty())
        terminal.print(question.detail + QLatin1Char('\n'));
    QStringList texts;
    for (const SshQuestion::Prompt& prompt : question.prompts) {
        QString text = prompt.text.trimmed();
        if (!text.endsWith(QLatin1Char(':')) && !text.endsWith(QLatin1Char('?')))
            text += QLatin1Char(':');
        terminal.print(question.title + QLatin1String(": ") + text + QLatin1Char(' '));
        const auto line = terminal.readLine(prompt.shown);
        if (!line)
            return {};
        texts.append(*line);
    }
    return texts;
}

} // namespace

const std::vector<base::Flag>& sshFlags() {
    static const std::vector<base::Flag> flags{
        {"--identity", "KEYFILE", "The private key to log in with; offered first."},
        {"--accept-new-host", "", "Take and remember the key of a host that is not known yet."},
        {"--folder", "DIR", "Where agent and files go on the board (~/.cache/shardscope)."}};
    return flags;
}

SshOptions sshOptionsFrom(const base::Args& args) {
    SshOptions options = SshOptions::standard();
    if (const auto file = args.value("--identity"))
        options.identity = QFileInfo(QString::fromStdString(*file)).absoluteFilePath();
    options.acceptNewHost = args.has("--accept-new-host");
    options.folder = QString::fromStdString(args.valueOr("--folder", ""));
    return options;
}

void askOnTerminal(QuestionBox& questions) {
    if (!Terminal().isThere())
        return;
    QObject::connect(
        &questions, &QuestionBox::asked, &questions,
        [box = &questions](quint64 number, const SshQuestion& question) {
            clearPhase();
            if (const auto texts = answersTo(question))
                box->answer(number, *texts);
            else
                box->refuse(number);
        });
}

void showPhase(const QString& phase) {
    if (::isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r\033[K%s", qUtf8Printable(phase));
}

void clearPhase() {
    if (::isatty(STDERR_FILENO))
        std::fputs("\r\033[K", stderr);
}

} // namespace shardscope::app
