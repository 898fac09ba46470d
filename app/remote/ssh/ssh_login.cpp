// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_login.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <QFileInfo>

#include "app/remote/ssh/auth_agent.h"
#include "app/remote/ssh/private_key.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

constexpr int kMostAgentKeys = 3; ///< servers allow six tries in all
constexpr int kTriesOfTyping = 3;

/// One more try with a key: of a file, or held by the agent.
struct Candidate {
    QString file;
    HostKey agentKey;
    PrivateKeyFacts facts;
};

/// Overwrites what was typed; strings that share their bytes get their own first.
void wipe(QByteArray& secret) {
    std::fill(secret.begin(), secret.end(), '\0');
}
void wipe(QStringList& secrets) {
    for (QString& secret : secrets)
        secret.fill(QChar(0));
}

class Login {
public:
    Login(SshLink& link, const SshRoute& route, const SshOptions& options, SshQuestions& questions)
        : m_link(link), m_route(route), m_options(options), m_questions(questions),
          m_user(route.user.toUtf8()), m_deadline(options.login) {}

    Result<QString> run() {
        auto methods = offered();
        if (!methods)
            return methods.error();
        m_offered = *methods;
        if (done())
            return QStringLiteral("no password wanted");
        for (qsizetype i = 0; i < methods->size(); ++i) {
            if (Status status = tryMethod(methods->at(i)); !status)
                return status.error();
            if (done())
                return m_how;
            // After a key was taken a server may want more: then it offers what is left.
            if (methods->at(i) == "publickey" && methods->size() == 1) {
                auto more = offered();
                if (more && *more != *methods && !more->isEmpty())
                    methods = *more, i = -1;
            }
        }
        return refusal();
    }

private:
    bool done() const { return libssh2_userauth_authenticated(m_link.session()) != 0; }
    unsigned userSize() const { return static_cast<unsigned>(m_user.size()); }

    Result<QList<QByteArray>> offered() {
        const char* list = nullptr;
        const int status = m_link.repeat(m_deadline, [&] {
            list = libssh2_userauth_list(m_link.session(), m_user.constData(), userSize());
            return list || done() ? 0 : libssh2_session_last_errno(m_link.session());
        });
        if (!list && !done())
            return m_link.failure(status, "the login");
        return QByteArray(list).split(',');
    }

    Status tryMethod(const QByteArray& method) {
        if (method == "publickey")
            return tryKeys();
        if (!m_questions.canAsk() || (method != "keyboard-interactive" && method != "password"))
            return {};
        for (int i = 0; i < kTriesOfTyping && !done(); ++i) {
            const int status = method == "password" ? tryPassword() : tryInteractive();
            if (m_refused)
                return Error{
                    ErrorCode::Connection, "the login was given up", m_link.name().toStdString(),
                    ""};
            if (Status judged = judge(status); !judged)
                return judged;
        }
        m_tried.append(QString::fromLatin1(method));
        return {};
    }

    /// A refusal is no error yet: something else may be tried. A broken connection is one.
    Status judge(int status) {
        switch (status) {
        case 0:
        case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
        case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
        case LIBSSH2_ERROR_KEYFILE_AUTH_FAILED:
        case LIBSSH2_ERROR_FILE:
        case LIBSSH2_ERROR_METHOD_NOT_SUPPORTED:
        case LIBSSH2_ERROR_METHOD_NONE:
        case LIBSSH2_ERROR_PUBLICKEY_PROTOCOL:
        case LIBSSH2_ERROR_ALLOC: // what it says where it cannot sign
            return {};
        case LIBSSH2_ERROR_SOCKET_DISCONNECT:
        case LIBSSH2_ERROR_SOCKET_RECV:
        case LIBSSH2_ERROR_SOCKET_SEND:
            return m_tried.isEmpty() ? m_link.failure(status, "the login") : refusal();
        default:
            return m_link.failure(status, "the login");
        }
    }

    Status tryKeys() {
        AuthAgent agent = AuthAgent::open(m_options.agentSocket, m_link.wake());
        auto list = candidates(agent);
        if (!list)
            return list.error();
        for (const Candidate& candidate : *list) {
            const bool ofAgent = !candidate.agentKey.blob.isEmpty();
            const QString name =
                !candidate.file.isEmpty()
                    ? QStringLiteral("key %1").arg(candidate.file)
                    : QStringLiteral("%1 key of the agent").arg(candidate.agentKey.typeName());
            const int status = ofAgent ? tryAgentKey(agent, candidate.agentKey)
                                       : tryKeyFile(candidate.file, candidate.facts);
            m_tried.append(name);
            m_triedRsa |= candidate.facts.isRsa || candidate.agentKey.type() == "ssh-rsa";
            if (done()) {
                m_how = name;
                return {};
            }
            if (Status judged = judge(status); !judged)
                return judged;
        }
        return {};
    }

    Result<QList<Candidate>> candidates(const AuthAgent& agent) {
        QList<HostKey> left = agent.keys();
        QList<Candidate> list;
        QStringList files = m_route.identities;
        if (files.isEmpty())
            for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"})
                files.append(m_options.sshFolder + QLatin1Char('/') + QLatin1String(name));
        QList<Candidate> ofFiles;
        for (const QString& file : files) {
            const bool named = m_route.chosen && file == m_route.identities.first();
            if (!named && !QFileInfo::exists(file))
                continue;
            auto facts = inspectPrivateKey(file);
            if (!facts && named)
                return facts.error();
            if (!facts)
                continue;
            Candidate candidate{file, {}, *facts};
            // What the agent holds needs no passphrase.
            if (!facts->publicKey.blob.isEmpty() && left.removeOne(facts->publicKey))
                candidate.agentKey = facts->publicKey;
            ofFiles.append(candidate);
        }
        if (!m_route.identities.isEmpty())
            list += ofFiles;
        if (!m_route.identitiesOnly)
            for (const HostKey& key : left.first(std::min<qsizetype>(left.size(), kMostAgentKeys)))
                list.append({{}, key, {}});
        if (m_route.identities.isEmpty())
            list += ofFiles;
        return list;
    }

    struct Signing {
        AuthAgent& agent;
        const HostKey& key;
    };
    static int signByAgent(
        LIBSSH2_SESSION*, unsigned char** signature, std::size_t* size, const unsigned char* data,
        std::size_t dataSize, void** abstract) {
        const auto* with = static_cast<Signing*>(*abstract);
        const QByteArray made =
            with->agent.sign(with->key, QByteArrayView(data, static_cast<qsizetype>(dataSize)));
        if (made.isEmpty())
            return -1;
        *size = static_cast<std::size_t>(made.size());
        *signature = static_cast<unsigned char*>(std::malloc(*size)); // freed by the library
        if (!*signature)
            return -1;
        std::memcpy(*signature, made.constData(), *size);
        return 0;
    }
    int tryAgentKey(AuthAgent& agent, const HostKey& key) {
        Signing signing{agent, key};
        void* abstract = &signing;
        return m_link.repeat(m_deadline, [&] {
            return libssh2_userauth_publickey(
                m_link.session(), m_user.constData(),
                reinterpret_cast<const unsigned char*>(key.blob.constData()),
                static_cast<std::size_t>(key.blob.size()), signByAgent, &abstract);
        });
    }

    int tryKeyFile(const QString& file, const PrivateKeyFacts& facts) {
        if (!facts.encrypted)
            return offerKeyFile(file, nullptr);
        if (!m_questions.canAsk()) {
            m_locked = true;
            return 0;
        }
        int status = 0;
        for (int i = 0; i < kTriesOfTyping && !done(); ++i) {
            SshQuestion question{SshQuestion::Kind::Passphrase, m_link.name(), file, {}, {}, {}};
            question.prompts.append({QStringLiteral("Passphrase of %1").arg(file), false});
            auto texts = m_questions.ask(question, m_link.wake());
            if (!texts || texts->isEmpty())
                return 0; // this key is left out
            QByteArray secret = texts->first().toUtf8();
            status = offerKeyFile(file, secret.constData());
            wipe(secret);
            wipe(*texts);
            // The key was read and the server did not want it: another passphrase helps nothing.
            if (status == LIBSSH2_ERROR_AUTHENTICATION_FAILED ||
                status == LIBSSH2_ERROR_SOCKET_DISCONNECT)
                break;
        }
        return status;
    }
    int offerKeyFile(const QString& file, const char* passphrase) {
        const QByteArray path = file.toLocal8Bit();
        return m_link.repeat(m_deadline, [&] {
            return libssh2_userauth_publickey_fromfile_ex(
                m_link.session(), m_user.constData(), userSize(), nullptr, path.constData(),
                passphrase);
        });
    }

    int tryPassword() {
        SshQuestion question{SshQuestion::Kind::Password, m_link.name(), {}, {}, {}, {}};
        question.prompts.append({QStringLiteral("Password"), false});
        auto texts = m_questions.ask(question, m_link.wake());
        if (!texts || texts->isEmpty()) {
            m_refused = true;
            return 0;
        }
        QByteArray secret = texts->first().toUtf8();
        const int status = m_link.repeat(m_deadline, [&] {
            return libssh2_userauth_password_ex(
                m_link.session(), m_user.constData(), userSize(), secret.constData(),
                static_cast<unsigned>(secret.size()), nullptr);
        });
        wipe(secret);
        wipe(*texts);
        m_how = QStringLiteral("password");
        return status;
    }

    int tryInteractive() {
        *libssh2_session_abstract(m_link.session()) = this;
        const int status = m_link.repeat(m_deadline, [&] {
            return libssh2_userauth_keyboard_interactive_ex(
                m_link.session(), m_user.constData(), userSize(), answerPrompts);
        });
        *libssh2_session_abstract(m_link.session()) = nullptr;
        m_how = QStringLiteral("answers to the board's questions");
        return status;
    }
    /// Called by the library for each set of prompts.
    static void answerPrompts(
        const char* name, int nameSize, const char* instruction, int instructionSize, int count,
        const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts, LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses,
        void** abstract) {
        auto* login = static_cast<Login*>(*abstract);
        if (count <= 0 || login->m_refused)
            return;
        SshQuestion question{SshQuestion::Kind::Interactive, login->m_link.name(), {}, {}, {}, {}};
        const QStringList words{
            QString::fromUtf8(name, nameSize), QString::fromUtf8(instruction, instructionSize)};
        question.detail = words.join(QLatin1Char(' ')).trimmed();
        for (int i = 0; i < count; ++i)
            question.prompts.append(
                {QString::fromUtf8(prompts[i].text, static_cast<qsizetype>(prompts[i].length)),
                 prompts[i].echo != 0});
        auto texts = login->m_questions.ask(question, login->m_link.wake());
        if (!texts || texts->size() != count) {
            login->m_refused = true;
            return;
        }
        for (int i = 0; i < count; ++i) {
            QByteArray secret = texts->at(i).toUtf8();
            responses[i].text = ::strdup(secret.constData()); // freed by the library
            responses[i].length = static_cast<unsigned>(std::strlen(responses[i].text));
            wipe(secret);
        }
        wipe(*texts);
    }

    Error refusal() const {
        Error error{
            ErrorCode::Connection, "the board does not let " + m_route.user.toStdString() + " in",
            m_link.name().toStdString(), ""};
        error.what += m_tried.isEmpty()
                          ? "; there was no key to offer"
                          : "; tried: " + m_tried.join(QStringLiteral(", ")).toStdString();
        error.what += "; it takes: " + m_offered.join(", ").toStdString();
        const std::string port = std::to_string(m_route.port);
        const std::string put = "ssh-copy-id -p " + port + " -i KEY.pub " +
                                (m_route.user + QLatin1Char('@') + m_route.host).toStdString();
        if (m_triedRsa && !SshLink::knowsModernRsa())
            error.mend = "libssh2 " + std::string(libssh2_version(0)) +
                         " cannot use RSA keys with OpenSSH 8.8 and later: make another one with "
                         "ssh-keygen -t ed25519, and put it on the board with " +
                         put;
        else if (m_locked)
            error.mend = "there is no terminal to ask for the passphrase: ssh-add the key first";
        else
            error.mend = "put your public key on the board: " + put;
        return error;
    }

    SshLink& m_link;
    const SshRoute& m_route;
    const SshOptions& m_options;
    SshQuestions& m_questions;
    QByteArray m_user;
    Deadline m_deadline;
    QList<QByteArray> m_offered;
    QStringList m_tried;
    QString m_how;
    bool m_triedRsa = false;
    bool m_locked = false;
    bool m_refused = false;
};

} // namespace

Result<QString>
logIn(SshLink& link, const SshRoute& route, const SshOptions& options, SshQuestions& questions) {
    auto how = Login(link, route, options, questions).run();
    if (how)
        link.keepAlive(options.keepAlive, options.silence);
    return how;
}

} // namespace shardscope::app
