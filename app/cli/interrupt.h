// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSocketNotifier>

namespace shardscope::app {

/// Turns the first Ctrl+C (or SIGTERM) into a signal of the event loop; a second one ends the
/// program as usual. One at a time.
class Interrupt : public QObject {
    Q_OBJECT
public:
    explicit Interrupt(QObject* parent = nullptr);
    /// Gives the signals their usual meaning back.
    ~Interrupt() override;

signals:
    void asked();

private:
    QSocketNotifier* m_notifier = nullptr;
};

} // namespace shardscope::app
