// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/emulate/cgroup_box.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QThread>

namespace shardscope::app {

namespace {

QByteArray encoded(const QString& path) {
    return QFile::encodeName(path);
}

QString textOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The kernel judges a value when it is written: one write(2), nothing buffered.
bool writeValue(const QString& path, const QString& value) {
    const int fd = ::open(encoded(path).constData(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const QByteArray text = value.toUtf8();
    const bool isTaken = ::write(fd, text.constData(), static_cast<std::size_t>(text.size())) ==
                         static_cast<ssize_t>(text.size());
    ::close(fd);
    return isTaken;
}

/// Ends what is still in a group of ours, and removes it. A process that has just ended leaves its
/// group a moment later.
void removeGroup(const QString& folder) {
    constexpr int kTries = 100;
    constexpr unsigned long kPauseMs = 20;
    for (int i = 0; i < kTries; ++i) {
        if (::rmdir(encoded(folder).constData()) == 0 || errno == ENOENT)
            return;
        for (const QString& pid :
             textOf(folder + QStringLiteral("/cgroup.procs")).split(QLatin1Char('\n')))
            if (const int number = pid.toInt(); number > 1)
                ::kill(number, SIGKILL);
        QThread::msleep(kPauseMs);
    }
}

QString controllerName(Controller controller) {
    switch (controller) {
    case Controller::Memory:
        return QStringLiteral("+memory");
    case Controller::Reads:
        return QStringLiteral("+io");
    case Controller::Processor:
        break;
    }
    return QStringLiteral("+cpu");
}

/// The kernel takes quotas of at least a millisecond, and periods of at most a second. A short
/// period makes a slow processor, a long one a fast processor that stops now and then.
struct Quota {
    qint64 quotaUs, periodUs;
    explicit Quota(double cores)
        : quotaUs(0), periodUs(std::clamp<qint64>(qRound64(1000 / cores), 10'000, 1'000'000)) {
        quotaUs = std::max<qint64>(1000, qRound64(cores * static_cast<double>(periodUs)));
    }
};

} // namespace

std::unique_ptr<CgroupBox> CgroupBox::create(
    const EmulationLimits& limits, const QString& model, bool holdReads, const CgroupRoots& roots) {
    sweep(roots);
    std::unique_ptr<CgroupBox> box(new CgroupBox);
    const QString bytes = QString::number(limits.memory.value);
    box->m_memoryBy = box->hold(
        Controller::Memory, QStringLiteral("memory.limit_in_bytes"), bytes,
        QStringLiteral("memory.max"), bytes, roots);
    if (const QString disk = diskOf(model, roots); holdReads && !disk.isEmpty()) {
        const qint64 rate = qRound64(limits.readBytesPerSecond);
        box->m_readsBy = box->hold(
            Controller::Reads, QStringLiteral("blkio.throttle.read_bps_device"),
            QStringLiteral("%1 %2").arg(disk).arg(rate), QStringLiteral("io.max"),
            QStringLiteral("%1 rbps=%2").arg(disk).arg(rate), roots);
    }
    if (limits.cores > 0) {
        const Quota q(limits.cores);
        // The period first: a quota is judged by it.
        box->m_processorBy = box->hold(
            Controller::Processor, QStringLiteral("cpu.cfs_period_us|cpu.cfs_quota_us"),
            QStringLiteral("%1|%2").arg(q.periodUs).arg(q.quotaUs), QStringLiteral("cpu.max"),
            QStringLiteral("%1 %2").arg(q.quotaUs).arg(q.periodUs), roots);
    }
    return box;
}

QString CgroupBox::hold(
    Controller controller, const QString& fileV1, const QString& valueV1, const QString& fileV2,
    const QString& valueV2, const CgroupRoots& roots) {
    for (const CgroupPlace& place : cgroupPlaces(controller, roots)) {
        Group* group = groupIn(place, controller);
        if (!group)
            continue;
        const QStringList files = (place.isV2 ? fileV2 : fileV1).split(QLatin1Char('|'));
        const QStringList values = (place.isV2 ? valueV2 : valueV1).split(QLatin1Char('|'));
        bool isHeld = true;
        for (qsizetype i = 0; i < files.size(); ++i)
            isHeld = isHeld && writeValue(group->folder + QLatin1Char('/') + files[i], values[i]);
        if (isHeld && canEnter())
            return QStringLiteral("%1 (cgroup v%2)").arg(files.last()).arg(place.isV2 ? 2 : 1);
        dropEmptyGroup(group->folder);
    }
    return {};
}

/// A new group there, or the one of version 2 that is there already: a process is in one of them.
CgroupBox::Group* CgroupBox::groupIn(const CgroupPlace& place, Controller controller) {
    if (place.isV2 &&
        !writeValue(
            place.folder + QStringLiteral("/cgroup.subtree_control"), controllerName(controller)) &&
        !textOf(place.folder + QStringLiteral("/cgroup.subtree_control"))
             .contains(controllerName(controller).mid(1)))
        return nullptr;
    for (Group& group : m_groups)
        if (place.isV2 && group.place.isV2)
            return group.place == place ? &group : nullptr;
    static std::atomic<int> number{0};
    const QString folder = place.folder + QLatin1Char('/') + groupName(++number);
    if (::mkdir(encoded(folder).constData(), 0755) != 0)
        return nullptr;
    const int procs =
        ::open(encoded(folder + QStringLiteral("/cgroup.procs")).constData(), O_WRONLY | O_CLOEXEC);
    if (procs < 0) {
        ::rmdir(encoded(folder).constData());
        return nullptr;
    }
    return &m_groups.emplace_back(Group{place, folder, procs});
}

void CgroupBox::dropEmptyGroup(const QString& folder) {
    const auto found = std::find_if(
        m_groups.begin(), m_groups.end(), [&](const Group& g) { return g.folder == folder; });
    // A group of version 2 may hold another limit already.
    if (found == m_groups.end() || (found->place.isV2 && !m_memoryBy.isEmpty()))
        return;
    ::close(found->procs);
    removeGroup(folder);
    m_groups.erase(found);
}

bool CgroupBox::enter() const noexcept {
    bool isIn = true;
    for (const Group& group : m_groups)
        isIn = ::write(group.procs, "0", 1) == 1 && isIn; // 0: the process that writes
    return isIn;
}

/// Tried with a child that does nothing else: a group can be made where nobody may be moved into.
bool CgroupBox::canEnter() const {
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(enter() ? 0 : 1);
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const CgroupBox::Group* CgroupBox::memoryGroup() const {
    return m_memoryBy.isEmpty() ? nullptr : &m_groups.front(); // made first
}

std::optional<base::Bytes> CgroupBox::memoryPeak() const {
    const Group* group = memoryGroup();
    if (!group)
        return std::nullopt;
    const QString text = textOf(
        group->folder +
        QLatin1String(group->place.isV2 ? "/memory.peak" : "/memory.max_usage_in_bytes"));
    bool isNumber = false;
    const qint64 bytes = text.trimmed().toLongLong(&isNumber);
    return isNumber ? std::optional(base::Bytes(bytes)) : std::nullopt;
}

int CgroupBox::oomKills() const {
    const Group* group = memoryGroup();
    if (!group)
        return 0;
    const QString text = textOf(
        group->folder +
        QLatin1String(group->place.isV2 ? "/memory.events" : "/memory.oom_control"));
    for (const QString& line : text.split(QLatin1Char('\n')))
        if (line.startsWith(QLatin1String("oom_kill ")))
            return line.section(QLatin1Char(' '), 1).toInt();
    return 0;
}

void CgroupBox::sweep(const CgroupRoots& roots) {
    for (const Controller controller :
         {Controller::Memory, Controller::Reads, Controller::Processor})
        for (const CgroupPlace& place : cgroupPlaces(controller, roots))
            for (const QString& name :
                 QDir(place.folder)
                     .entryList(
                         {QStringLiteral("shardscope-*")}, QDir::Dirs | QDir::NoDotAndDotDot))
                if (isStale(name))
                    removeGroup(place.folder + QLatin1Char('/') + name);
}

CgroupBox::~CgroupBox() {
    for (const Group& group : m_groups) {
        ::close(group.procs);
        removeGroup(group.folder);
    }
}

} // namespace shardscope::app
