// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/ssh_config.h"

#include <algorithm>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

namespace shardscope::app {

namespace {

constexpr int kDeepestInclude = 16; // as in ssh
constexpr qint64 kLargestFile = 1 << 20;

/// The words of a line: "Key value", "Key=value", quotes around values with spaces.
QStringList wordsOf(const QString& line) {
    QStringList words;
    QString word;
    bool quoted = false, begun = false;
    const auto end = [&] {
        if (begun)
            words.append(std::exchange(word, QString()));
        begun = false;
    };
    for (const QChar c : line) {
        if (c == QLatin1Char('"')) {
            quoted = !quoted;
            begun = true;
        } else if (!quoted && c == QLatin1Char('#') && !begun) {
            break;
        } else if (!quoted && (c.isSpace() || (c == QLatin1Char('=') && words.size() < 2))) {
            if (c != QLatin1Char('=') || begun || words.size() == 1)
                end();
        } else {
            word += c;
            begun = true;
        }
    }
    end();
    return words;
}

class Reader {
public:
    Reader(QString host, QString user, const QString& file)
        : m_host(std::move(host)), m_user(std::move(user)), m_folder(QFileInfo(file).path()) {}

    void read(const QString& path, int depth) {
        QFile file(path);
        if (depth > kDeepestInclude || !file.open(QIODevice::ReadOnly))
            return;
        const bool outside = m_active; // a block of an included file ends with it
        const QStringList lines =
            QString::fromUtf8(file.read(kLargestFile)).split(QLatin1Char('\n'));
        for (const QString& line : lines)
            if (const QStringList words = wordsOf(line); words.size() >= 2)
                take(words.first().toLower(), words.mid(1), depth);
        m_active = outside;
    }

    SshHostSettings settings() {
        m_settings.hostName.replace(QLatin1String("%h"), m_host);
        for (QString& path : m_settings.identities)
            path = resolved(path);
        return m_settings;
    }

private:
    void take(const QString& key, const QStringList& values, int depth) {
        if (key == QLatin1String("host")) {
            m_active = matches(values);
        } else if (key == QLatin1String("match")) {
            m_active = values.first().toLower() == QLatin1String("all");
        } else if (!m_active) {
            return;
        } else if (key == QLatin1String("include")) {
            for (const QString& pattern : values)
                include(pattern, depth);
        } else {
            set(key, values.first());
        }
    }

    void set(const QString& key, const QString& value) {
        const auto first = [&](QString& field) {
            if (field.isEmpty())
                field = value;
        };
        if (key == QLatin1String("hostname"))
            first(m_settings.hostName);
        else if (key == QLatin1String("user"))
            first(m_settings.user);
        else if (key == QLatin1String("port") && m_settings.port == 0)
            m_settings.port = value.toUShort();
        else if (key == QLatin1String("identityfile") && value != QLatin1String("none"))
            m_settings.identities.append(value);
        else if (key == QLatin1String("identitiesonly"))
            first(m_identitiesOnly), m_settings.identitiesOnly = m_identitiesOnly == "yes";
        else if (key == QLatin1String("proxyjump") || key == QLatin1String("proxycommand"))
            first(m_jump), m_settings.jump = m_jump == "none" ? QString() : m_jump;
    }

    bool matches(const QStringList& patterns) const {
        bool found = false;
        for (const QString& pattern : patterns) {
            if (pattern.startsWith(QLatin1Char('!')) && matchesPattern(pattern.mid(1), m_host))
                return false;
            found |= matchesPattern(pattern, m_host);
        }
        return found;
    }

    void include(const QString& pattern, int depth) {
        QString path = home(pattern);
        if (QDir::isRelativePath(path))
            path = m_folder + QLatin1Char('/') + path;
        const QFileInfo info(path);
        for (const QString& name : QDir(info.path()).entryList({info.fileName()}, QDir::Files))
            read(info.path() + QLatin1Char('/') + name, depth + 1);
    }

    static QString home(const QString& path) {
        return path.startsWith(QLatin1String("~/")) ? QDir::homePath() + path.mid(1) : path;
    }
    QString resolved(const QString& path) const {
        QString all = home(path);
        all.replace(QLatin1String("%d"), QDir::homePath());
        all.replace(
            QLatin1String("%h"), m_settings.hostName.isEmpty() ? m_host : m_settings.hostName);
        all.replace(QLatin1String("%r"), m_user.isEmpty() ? m_settings.user : m_user);
        all.replace(QLatin1String("%u"), qEnvironmentVariable("USER"));
        all.replace(QLatin1String("%%"), QLatin1String("%"));
        return QDir::isRelativePath(all) ? QDir::home().filePath(all) : all;
    }

    QString m_host, m_user, m_folder;
    QString m_identitiesOnly, m_jump;
    SshHostSettings m_settings;
    bool m_active = true;
};

} // namespace

bool matchesPattern(const QString& pattern, const QString& text) {
    QString expression = QRegularExpression::escape(pattern);
    expression.replace(QLatin1String("\\*"), QLatin1String(".*"));
    expression.replace(QLatin1String("\\?"), QLatin1String("."));
    return QRegularExpression(
               QRegularExpression::anchoredPattern(expression),
               QRegularExpression::CaseInsensitiveOption)
        .match(text)
        .hasMatch();
}

SshHostSettings sshSettings(const QString& host, const QString& user, const QString& configFile) {
    Reader reader(host, user, configFile);
    reader.read(configFile, 0);
    return reader.settings();
}

} // namespace shardscope::app
