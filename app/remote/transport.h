// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>

#include "sim_engine/base/result.h"

namespace shardscope::app {

/// A byte stream to and from an agent: a child process here, an SSH channel or a file elsewhere.
/// GUI thread only; nothing blocks.
class Transport : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Opens the stream; opened() or closed() follows.
    virtual void start() = 0;
    /// Sends bytes; they are dropped when the stream is closed.
    virtual void write(const QByteArray& bytes) = 0;
    /// Ends the stream: asks first, then insists; closed() follows.
    virtual void stop() = 0;
    /// What stands on the other side, for messages: "local agent", "pi@10.0.0.7".
    virtual QString target() const = 0;

    /// Files of this machine that the other side shall read; told before start(). They are there
    /// when opened() comes.
    virtual void bring(const QStringList&) {}
    /// How the other side calls a file that was brought.
    virtual QString pathThere(const QString& file) const { return file; }
    /// Whether it ended because the other side is not who it was: to try again is of no use.
    virtual bool isDistrusted() const { return false; }

signals:
    /// A word for the status line while it opens: "uploading base.en.bin: 42 %".
    void phaseChanged(const QString& phase);
    void opened();
    void bytesArrived(const QByteArray& bytes);
    /// The stream is over, once. `reason` tells why, unless stop() was called or the other side
    /// ended well.
    void closed(const std::optional<shardscope::base::Error>& reason);
};

} // namespace shardscope::app
