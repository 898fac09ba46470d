// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/remote/transport.h"
#include "sim_engine/trace/frame.h"

namespace shardscope::testing {

/// An agent by script: each request is handed to `answer`, which sends what it likes.
class ScriptedTransport : public app::Transport {
    Q_OBJECT
public:
    using Json = nlohmann::ordered_json;
    std::function<void(ScriptedTransport&, const Json& request)> answer;
    bool opens = true;

    void start() override {
        if (opens)
            QMetaObject::invokeMethod(
                this, [this] { emit opened(); }, Qt::QueuedConnection);
        else
            end(base::Error{base::ErrorCode::Connection, "no route", "script", "plug it in"});
    }
    void write(const QByteArray& bytes) override {
        m_reader.push({bytes.constData(), static_cast<std::size_t>(bytes.size())});
        while (const auto frame = m_reader.next())
            answer(*this, Json::parse(frame->payload, nullptr, false));
    }
    void stop() override { end({}); }
    QString target() const override { return QStringLiteral("script"); }

    /// Sends bytes at the next turn of the loop, as a process would.
    void send(const std::string& bytes) {
        QMetaObject::invokeMethod(
            this, [this, b = QByteArray::fromStdString(bytes)] { emit bytesArrived(b); },
            Qt::QueuedConnection);
    }
    void send(const Json& document) {
        std::string frame;
        trace::appendControl(frame, 0, document.dump());
        send(frame);
    }
    void greet(const Json& request) {
        send(Json{
            {"id", request["id"]},
            {"reply", {{"version", "0.1.0"}, {"protocol", 1}, {"pid", 1}, {"arch", "test"}}}});
    }
    void end(const std::optional<base::Error>& reason) {
        QMetaObject::invokeMethod(
            this,
            [this, reason] {
                if (!std::exchange(m_closed, true))
                    emit closed(reason);
            },
            Qt::QueuedConnection);
    }

private:
    trace::FrameReader m_reader;
    bool m_closed = false;
};

} // namespace shardscope::testing
