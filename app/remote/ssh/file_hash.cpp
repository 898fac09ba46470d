// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/file_hash.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;

namespace {

constexpr qint64 kPiece = 1 << 20;
constexpr qint64 kWorthKeeping = 4 << 20;
constexpr qsizetype kMostKept = 500;

QString keptAt() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) +
           QStringLiteral("/shardscope/hashes.json");
}

/// Changes when the file does, as far as names, sizes and times tell.
QString identityOf(const QFileInfo& file) {
    return QStringLiteral("%1|%2|%3|%4")
        .arg(
            file.canonicalFilePath(), QString::number(file.size()),
            QString::number(file.lastModified().toMSecsSinceEpoch()),
            QString::number(file.metadataChangeTime().toMSecsSinceEpoch()));
}

QJsonObject kept() {
    QFile file(keptAt());
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                          : QJsonObject();
}

/// Losing it costs the time to hash again, nothing else.
void keep(const QString& identity, const QByteArray& hash) {
    QJsonObject all = kept();
    if (all.size() >= kMostKept)
        all = {};
    all.insert(identity, QString::fromLatin1(hash));
    QDir().mkpath(QFileInfo(keptAt()).path());
    QSaveFile file(keptAt());
    if (file.open(QIODevice::WriteOnly) && file.write(QJsonDocument(all).toJson()) > 0)
        file.commit();
}

} // namespace

base::Result<QByteArray>
fileHash(const QString& path, Wake& wake, const std::function<void(double)>& progress) {
    const QFileInfo info(path);
    const QString identity = identityOf(info);
    const bool large = info.size() >= kWorthKeeping;
    if (large)
        if (const QString known = kept().value(identity).toString(); known.size() == 64)
            return known.toLatin1();
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
        return Error{
            ErrorCode::BadInput, "it cannot be read: " + file.errorString().toStdString(),
            path.toStdString(), "check the path and its permissions"};
    QCryptographicHash hash(QCryptographicHash::Sha256);
    QByteArray piece(kPiece, Qt::Uninitialized);
    for (qint64 done = 0;;) {
        if (wake.isCancelled())
            return Error{ErrorCode::Failed, "stopped", path.toStdString(), ""};
        const qint64 n = file.read(piece.data(), kPiece);
        if (n < 0)
            return Error{
                ErrorCode::BadInput, "it cannot be read: " + file.errorString().toStdString(),
                path.toStdString(), "check the disk"};
        if (n == 0)
            break;
        hash.addData(QByteArrayView(piece).first(n));
        done += n;
        progress(static_cast<double>(done) / static_cast<double>(std::max<qint64>(info.size(), 1)));
    }
    const QByteArray hex = hash.result().toHex();
    if (large)
        keep(identity, hex);
    return hex;
}

} // namespace shardscope::app
