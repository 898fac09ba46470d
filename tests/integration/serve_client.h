// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QElapsedTimer>
#include <QProcess>
#include <QTest>

#include <nlohmann/json.hpp>

#include "sim_engine/trace/frame.h"
#include "sim_engine/trace/recording.h"

/// The desktop's side of `shardscope-agent serve`, a request at a time, for tests that end links in
/// rough ways.
namespace shardscope::tests {

using Json = nlohmann::ordered_json;

class ServeClient {
public:
    explicit ServeClient(const QStringList& words = {}) {
        m_process.start(
            QStringLiteral(PROGRAMS_DIR "/shardscope-agent"),
            QStringList{QStringLiteral("serve")} + words);
        m_process.waitForStarted();
    }
    ~ServeClient() { cut(); }

    /// As a link that drops: the agent's pipes are closed, and it gets no time.
    void cut() {
        m_process.kill();
        m_process.waitForFinished();
    }
    /// As a link that ends well.
    bool end() {
        m_process.closeWriteChannel();
        return m_process.waitForFinished(10000);
    }

    void send(const std::string& name, Json parameters = Json::object()) {
        Json message{{"id", ++m_id}, {"request", name}};
        message.update(parameters);
        std::string bytes;
        trace::appendControl(bytes, m_id, message.dump());
        m_process.write(bytes.data(), static_cast<qint64>(bytes.size()));
        while (m_process.bytesToWrite() > 0 && m_process.waitForBytesWritten(1000)) {
        }
    }
    /// The answer to a request; null where none comes.
    Json ask(const std::string& name, Json parameters = Json::object()) {
        send(name, std::move(parameters));
        const int id = m_id;
        Json answer;
        readUntil(
            [&](const trace::Frame& frame) {
                const Json document = trace::parseControl(
                    frame.kind == trace::FrameKind::Control ? frame.payload : "null");
                if (!document.is_object() || document.value("id", Json()) != id)
                    return false;
                answer = document;
                return true;
            },
            20000);
        return answer;
    }

    /// Reads frames until one is what was wanted, or time is over; false then.
    bool readUntil(const std::function<bool(const trace::Frame&)>& isWanted, int ms) {
        QElapsedTimer clock;
        clock.start();
        for (;;) {
            while (const auto frame = m_reader.next()) {
                take(*frame);
                if (isWanted(*frame))
                    return true;
            }
            if (clock.elapsed() > ms)
                return false;
            if (m_process.bytesAvailable() == 0 && !m_process.waitForReadyRead(100) &&
                m_process.state() == QProcess::NotRunning)
                return false;
            const QByteArray bytes = m_process.readAllStandardOutput();
            m_reader.push({bytes.constData(), static_cast<std::size_t>(bytes.size())});
        }
    }

    /// The frames of the run so far, as a recording would hold them.
    std::string stream;
    qint64 pid() const { return m_process.processId(); }

    static bool isEnd(const trace::Frame& frame) {
        if (frame.kind != trace::FrameKind::Control)
            return false;
        const Json document = trace::parseControl(frame.payload);
        return document.is_object() && !document.contains("id") &&
               (document.contains("result") || document.contains("error"));
    }

private:
    void take(const trace::Frame& frame) {
        if (frame.kind == trace::FrameKind::Control) {
            const Json document = trace::parseControl(frame.payload);
            if (document.contains("id"))
                return;
        }
        trace::appendFrame(stream, frame.kind, frame.sequence, frame.payload);
    }

    QProcess m_process;
    trace::FrameReader m_reader;
    int m_id = 0;
};

/// The frames in `stream`, told as a run.
inline trace::Recording recordingOf(const std::string& stream) {
    trace::FrameReader reader;
    trace::RecordingBuilder builder;
    reader.push(stream);
    while (const auto frame = reader.next())
        (void)builder.add(*frame);
    return builder.take();
}

} // namespace shardscope::tests
