// SPDX-License-Identifier: GPL-3.0-or-later
// What a connection may have to ask a person: from its worker thread to the GUI thread and back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

#include "app/remote/ssh/wake.h"

namespace shardscope::app {

struct SshQuestion {
    enum class Kind {
        NewHost,     ///< no prompts; any answer accepts
        Passphrase,  ///< of a key file
        Interactive, ///< whatever the server asks, in one or more prompts
        Password,
    };
    struct Prompt {
        QString text;
        bool shown = false; ///< whether what is typed may be seen
    };
    Kind kind = Kind::NewHost;
    QString title;  ///< "pi@10.0.0.7:22"
    QString detail; ///< more to it: an instruction of the server, the name of the key file
    QList<Prompt> prompts;
    QString keyType;     ///< NewHost: "ed25519"
    QString fingerprint; ///< NewHost: "SHA256:..."
};

/// The worker's side.
class SshQuestions {
public:
    virtual ~SshQuestions() = default;
    /// Whether there is anybody to ask.
    virtual bool canAsk() const = 0;
    /// Waits for an answer for each prompt; none where it was refused or `wake` is cancelled.
    virtual std::optional<QStringList> ask(const SshQuestion& question, Wake& wake) = 0;
};

/// Asks through a signal in the thread of this object, which answers when it likes.
class QuestionBox : public QObject, public SshQuestions {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Whether somebody was ever connected to asked().
    bool canAsk() const override { return m_heard.load(); }
    std::optional<QStringList> ask(const SshQuestion& question, Wake& wake) override;

    /// An answer to the question with this number; late ones are dropped. The texts are not kept.
    void answer(quint64 number, const QStringList& texts);
    void refuse(quint64 number);

signals:
    /// Answer with answer() or refuse(), now or later.
    void asked(quint64 number, const shardscope::app::SshQuestion& question);

protected:
    void connectNotify(const QMetaMethod&) override { m_heard.store(true); }

private:
    void settle(quint64 number, std::optional<QStringList> texts);

    std::atomic<bool> m_heard{false};
    std::mutex m_lock;
    std::condition_variable m_settled;
    quint64 m_number = 0;
    bool m_open = false;
    std::optional<QStringList> m_texts;
};

} // namespace shardscope::app
