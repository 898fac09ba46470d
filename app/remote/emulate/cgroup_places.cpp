// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/emulate/cgroup_places.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace shardscope::app {

namespace {

const QString kOurs = QStringLiteral("shardscope-");

QString textOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QString::fromUtf8(file.readAll()).trimmed();
}

QString nameOf(Controller controller, bool isV2) {
    switch (controller) {
    case Controller::Memory:
        return QStringLiteral("memory");
    case Controller::Reads:
        return isV2 ? QStringLiteral("io") : QStringLiteral("blkio");
    case Controller::Processor:
        break;
    }
    return QStringLiteral("cpu");
}

/// The group of this process in one hierarchy, from a line "4:memory:/path" or "0::/path"; null
/// where there is none.
QString groupPath(const QString& table, const QString& controller) {
    for (const QString& line : table.split(QLatin1Char('\n'))) {
        const QString names = line.section(QLatin1Char(':'), 1, 1);
        const bool isWanted = controller.isEmpty()
                                  ? line.startsWith(QLatin1String("0::"))
                                  : names.split(QLatin1Char(',')).contains(controller);
        if (isWanted)
            return line.section(QLatin1Char(':'), 2);
    }
    return {};
}

/// The path and those above it, down to "".
QStringList upwards(QString path) {
    QStringList all;
    while (!path.isEmpty() && path != QLatin1String("/")) {
        all.append(path);
        path.truncate(path.lastIndexOf(QLatin1Char('/')));
    }
    all.append(QString());
    return all;
}

/// The 22nd field of /proc/PID/stat: when the process began; null where there is none. The second
/// field is in brackets and may hold anything.
QString startOf(const QString& pid) {
    const QString stat = textOf(QStringLiteral("/proc/%1/stat").arg(pid));
    const QString rest = stat.mid(stat.lastIndexOf(QLatin1Char(')')) + 2);
    constexpr int kField = 22 - 3; // the rest begins with the third
    return stat.isEmpty() ? QString() : rest.section(QLatin1Char(' '), kField, kField);
}

} // namespace

QList<CgroupPlace> cgroupPlaces(Controller controller, const CgroupRoots& roots) {
    QList<CgroupPlace> places;
    const QString table = textOf(roots.groups);
    const QString v1 = nameOf(controller, false), v2 = nameOf(controller, true);
    if (const QString path = groupPath(table, v1); !path.isNull())
        for (const QString& up : upwards(path))
            if (const QString folder = roots.mount + QLatin1Char('/') + v1 + up;
                QFileInfo(folder).isDir())
                places.append({false, folder});
    const QString path = groupPath(table, QString());
    if (path.isNull())
        return places;
    const QStringList above = upwards(path);
    for (qsizetype i = above.size() == 1 ? 0 : 1; i < above.size(); ++i) {
        const QString folder = roots.mount + above[i];
        const QStringList has =
            textOf(folder + QStringLiteral("/cgroup.controllers")).split(QLatin1Char(' '));
        if (has.contains(v2))
            places.append({true, folder});
    }
    return places;
}

QString diskOf(const QString& file, const CgroupRoots& roots) {
    struct stat info {};
    if (::stat(QFile::encodeName(file).constData(), &info) != 0)
        return {};
    return diskOf(major(info.st_dev), minor(info.st_dev), roots);
}

QString diskOf(unsigned major, unsigned minor, const CgroupRoots& roots) {
    const QString place = QStringLiteral("%1/%2:%3").arg(roots.devices).arg(major).arg(minor);
    const QFileInfo device(place);
    if (major == 0 || !device.exists())
        return {};
    if (!QFileInfo::exists(place + QStringLiteral("/partition")))
        return QStringLiteral("%1:%2").arg(major).arg(minor);
    return textOf(QDir(device.canonicalFilePath()).filePath(QStringLiteral("../dev")));
}

QString groupName(int number) {
    const QString pid = QString::number(::getpid());
    return QStringLiteral("%1%2-%3-%4").arg(kOurs, pid, startOf(pid)).arg(number);
}

bool isStale(const QString& group) {
    if (!group.startsWith(kOurs))
        return false;
    const QStringList parts = group.mid(kOurs.size()).split(QLatin1Char('-'));
    bool isNumber = false;
    if (parts.size() != 3 || parts[0].toInt(&isNumber) <= 0 || !isNumber)
        return false; // somebody else's
    return startOf(parts[0]) != parts[1];
}

} // namespace shardscope::app
