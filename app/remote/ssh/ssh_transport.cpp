// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_transport.h"

#include <utility>

#include <QFileInfo>

#include "app/remote/ssh/agent_call.h"
#include "app/remote/ssh/board_upload.h"
#include "app/remote/ssh/file_hash.h"
#include "app/remote/ssh/ssh_connect.h"
#include "app/remote/ssh/ssh_login.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Status;

namespace {

constexpr std::chrono::seconds kStarting{15};
constexpr std::chrono::milliseconds kBetweenNotes{100};
constexpr int kGoodbyeMs = 500;

/// What the end of the agent means; none where it ended well.
std::optional<Error>
endOf(const CommandEnd& end, const QByteArray& lastWords, const std::string& where) {
    if (end.signal.isEmpty() && end.status == 0)
        return {};
    Error error{ErrorCode::Failed, "", where, "run it again"};
    if (!end.signal.isEmpty()) {
        error.what = "the agent died (signal " + end.signal.toStdString() + ")";
        if (end.signal == "KILL")
            error.mend = "it was killed, perhaps for memory: give a smaller --budget";
    } else {
        error.what = "the agent ended with status " + std::to_string(end.status);
        if (end.status == 126)
            error.mend = "programs may not run from that folder: name another one with --folder";
    }
    if (!lastWords.isEmpty())
        error.what += ", its last words: " + lastWords.toStdString();
    return error;
}

} // namespace

SshTransport::SshTransport(SshTarget target, SshOptions options, QObject* parent)
    : Transport(parent), m_target(std::move(target)), m_options(std::move(options)),
      m_wake(std::make_shared<Wake>()), m_stream(*m_wake, [this] {
          QMetaObject::invokeMethod(this, &SshTransport::deliver, Qt::QueuedConnection);
      }) {
    m_patience.setSingleShot(true);
    m_patience.setInterval(std::chrono::seconds(3));
    connect(&m_patience, &QTimer::timeout, this, [this] { m_wake->cancel(); });
}

SshTransport::~SshTransport() {
    // What was said last still goes out, where the other side takes it.
    for (int i = 0; m_open && m_stopping && !m_done && i < kGoodbyeMs; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    m_wake->cancel();
    if (m_worker.joinable())
        m_worker.join();
}

QString SshTransport::pathThere(const QString& file) const {
    const auto found = m_paths.find(file);
    return found == m_paths.end() ? file : found->second;
}

void SshTransport::start() {
    if (m_worker.joinable())
        return;
    m_worker = std::thread([this] {
        const std::optional<Error> why = work();
        m_done = true;
        QMetaObject::invokeMethod(
            this, [this, why] { close(why); }, Qt::QueuedConnection);
    });
}

void SshTransport::write(const QByteArray& bytes) {
    m_stream.send(bytes);
}

void SshTransport::stop() {
    if (m_closed || std::exchange(m_stopping, true))
        return;
    if (!m_worker.joinable())
        return close({});
    m_stream.endSending(); // the end of its input ends the agent
    if (m_open)
        m_patience.start();
    else
        m_wake->cancel();
}

void SshTransport::deliver() {
    if (const QByteArray bytes = m_stream.fetch(); !bytes.isEmpty() && !m_closed)
        emit bytesArrived(bytes);
}

void SshTransport::close(const std::optional<Error>& reason) {
    deliver();
    if (std::exchange(m_closed, true))
        return;
    m_patience.stop();
    emit closed(m_stopping ? std::nullopt : reason);
}

void SshTransport::note(const QString& phase) {
    QMetaObject::invokeMethod(
        this, [this, phase] { emit phaseChanged(phase); }, Qt::QueuedConnection);
}

std::optional<Error> SshTransport::work() {
    auto route = resolveRoute(m_target, m_options);
    if (!route)
        return route.error();
    note(tr("connecting to %1").arg(route->name()));
    auto link = openLink(*route, m_options, m_wake);
    if (!link)
        return link.error();
    if (auto trusted = trustHost(**link, *route, m_options, m_questions); !trusted) {
        m_distrusted = true;
        return trusted.error();
    }
    if (auto entered = logIn(**link, *route, m_options, m_questions); !entered)
        return entered.error();
    Status status = serve(**link);
    return status ? std::nullopt : std::optional(status.error());
}

Status SshTransport::putFiles(SshLink& link, QString& agent, Arrival& arrival) {
    note(tr("looking at the board"));
    auto survey = surveyBoard(link, m_options);
    if (!survey)
        return survey.error();
    QString what = tr("the agent");
    Deadline silence(kBetweenNotes);
    const auto progress = [&](qint64 done, qint64 all) {
        if (!silence.passed())
            return;
        silence = Deadline(kBetweenNotes);
        note(tr("uploading %1: %2 %").arg(what).arg(all > 0 ? 100 * done / all : 100));
    };
    auto deployed = deployAgent(link, *survey, progress);
    if (!deployed)
        return deployed.error();
    agent = *deployed;
    arrival.folder = survey->folder;
    for (const QString& file : std::as_const(m_files)) {
        what = QFileInfo(file).fileName();
        auto hash = fileHash(file, *m_wake, [&](double share) {
            if (silence.passed())
                note(tr("reading %1: %2 %").arg(what).arg(static_cast<int>(100 * share)));
        });
        if (!hash)
            return hash.error();
        const QString kind = what.endsWith(QLatin1String(".wav")) ? QStringLiteral("audio")
                                                                  : QStringLiteral("models");
        auto path =
            uploadFile(link, *survey, {file, remoteName(kind, *hash, file), *hash}, progress);
        if (!path)
            return path.error();
        arrival.paths[file] = *path;
    }
    return {};
}

Status SshTransport::serve(SshLink& link) {
    QString agent;
    Arrival arrival;
    if (Status status = putFiles(link, agent, arrival); !status)
        return status;
    note(tr("starting the agent"));
    auto channel = SshChannel::start(
        link, serveCommand(m_options, arrival.folder, agent), Deadline(kStarting));
    if (!channel)
        return channel.error();
    QMetaObject::invokeMethod(
        this,
        [this, arrival] {
            m_paths = arrival.paths;
            m_folder = arrival.folder;
            m_open = true;
            if (!m_stopping)
                emit opened();
        },
        Qt::QueuedConnection);
    auto end = (*channel)->pump(m_stream, Deadline::never());
    if (!end)
        return end.error();
    const std::string where = link.name().toStdString() + ":" + agent.toStdString();
    if (auto error = endOf(*end, m_stream.lastErrorLine(), where))
        return *error;
    return {};
}

} // namespace shardscope::app
