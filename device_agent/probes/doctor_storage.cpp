// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <memory>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device_agent/probes/doctor.h"
#include "device_agent/probes/mount_facts.h"
#include "device_agent/probes/pressure.h"
#include "device_agent/probes/proc_file.h"
#include "device_agent/probes/temporary_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using base::Bytes;
using base::bytesText;

constexpr std::size_t kPage = 4096;

/// 0, or the errno of a read past the page cache. Opening alone proves nothing: some file systems
/// refuse the read.
int tryDirectRead(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const std::unique_ptr<void, decltype(&std::free)> page(
        std::aligned_alloc(kPage, kPage), &std::free);
    const ssize_t got = ::pread(fd, page.get(), kPage, 0);
    const int error = got < 0 ? errno : 0;
    ::close(fd);
    return got == 0 ? EIO : error;
}

/// 0, or the errno of making a ring.
int tryRing() {
    io_uring_params params{};
    const long fd = ::syscall(SYS_io_uring_setup, 4, &params);
    if (fd < 0)
        return errno;
    ::close(static_cast<int>(fd));
    return 0;
}

void judgeRing(std::vector<Finding>& out) {
    if (const int error = tryRing(); error != 0)
        return out.push_back(
            {"io_uring", Severity::Note,
             std::string("io_uring is refused: ") + std::strerror(error),
             "--loader auto takes direct instead; else a kernel of 5.6 or later, "
             "kernel.io_uring_disabled=0 and no seccomp filter against it"});
    out.push_back({"io_uring", Severity::Good, "io_uring works", ""});
}

void judgeFolder(const Demand& demand, std::vector<Finding>& out) {
    const auto refused = [&](const base::Error& error) {
        out.push_back(
            {"folder", Severity::Problem, demand.folder + ": " + error.what,
             "remount it writable, free some space, or choose another folder"});
    };
    auto file = TemporaryFile::create(demand.folder);
    if (!file)
        return refused(file.error());
    if (const auto status = file->append(std::array<std::byte, 2 * kPage>{}); !status)
        return refused(status.error());
    out.push_back({"folder", Severity::Good, demand.folder + " can be written", ""});
    if (const int error = tryDirectRead(file->path()); error != 0)
        return out.push_back(
            {"o_direct", Severity::Warning,
             demand.folder + std::string(": O_DIRECT is refused: ") + std::strerror(error),
             "keep models on ext4, f2fs or xfs: else every read goes through the page cache"});
    out.push_back({"o_direct", Severity::Good, "O_DIRECT reads work in " + demand.folder, ""});
}

void judgeSpace(const Demand& demand, std::vector<Finding>& out) {
    struct statvfs info {};
    if (::statvfs(demand.folder.c_str(), &info) != 0)
        return;
    const Bytes free(static_cast<std::int64_t>(info.f_bavail * info.f_frsize));
    const std::string said = bytesText(free) + " free in " + demand.folder;
    if (free < base::mebibytes(128))
        return out.push_back(
            {"disk", Severity::Warning, said,
             "remove what is not needed: models and recordings take room"});
    out.push_back({"disk", Severity::Good, said, ""});
}

/// A board whose storage is slow writes back for minutes what it let pile up, and reads wait.
void judgeWriteback(const SystemRoots& roots, std::vector<Finding>& out) {
    const auto ratio =
        leadingNumber(readKernelText(roots.proc + "/sys/vm/dirty_ratio")).value_or(0);
    const auto total =
        numberAfter(readKernelText(roots.proc + "/meminfo"), "MemTotal:").value_or(0);
    const Bytes dirty(total * 1024 / 100 * ratio);
    if (ratio == 0 || total == 0) // set in bytes, or not told
        return;
    const std::string said = base::formatted(
        "up to %s may wait to be written (vm.dirty_ratio = %lld)", bytesText(dirty).c_str(),
        static_cast<long long>(ratio));
    const bool smallBoard = total * 1024 < (std::int64_t{1} << 30);
    if (smallBoard && ratio > 10)
        return out.push_back(
            {"writeback", Severity::Note, said + ", memory that a run may miss",
             "sysctl vm.dirty_ratio=5 vm.dirty_background_ratio=2"});
    out.push_back({"writeback", Severity::Good, said, ""});
}

} // namespace

Finding judgeMount(std::string_view table, unsigned major, unsigned minor) {
    const auto mount = findMount(table, major, minor);
    if (!mount)
        return {"mount", Severity::Note, "the system does not tell the file system", ""};
    const std::string& type = mount->type;
    const std::string said = mount->words() + " (" + mount->options + ")";
    const auto has = [&](std::string_view option) {
        return ("," + mount->options + ",").find("," + std::string(option) + ",") !=
               std::string::npos;
    };
    if (type.starts_with("nfs") || type == "cifs" || type == "9p" || type.starts_with("fuse"))
        return {
            "mount", Severity::Warning, said + ": reads go over a network or another process",
            "copy the model to storage of the board"};
    if (type == "tmpfs" || type == "ramfs")
        return {
            "mount", Severity::Warning, said + ": files here take RAM",
            "keep models on real storage, that memory is what a run is short of"};
    if (has("sync"))
        return {
            "mount", Severity::Warning, said + ": each write waits for the storage",
            "mount -o remount,async"};
    if (!has("noatime") && !has("relatime") && !has("ro"))
        return {
            "mount", Severity::Note, said + ": each read also writes the time of access",
            "mount -o remount,noatime"};
    return {"mount", Severity::Good, said, ""};
}

void examineStorage(const Demand& demand, const SystemRoots& roots, std::vector<Finding>& out) {
    judgeFolder(demand, out);
    judgeRing(out);
    struct stat info {};
    if (::stat(demand.folder.c_str(), &info) == 0)
        out.push_back(judgeMount(
            readKernelText(roots.proc + "/self/mountinfo"), major(info.st_dev),
            minor(info.st_dev)));
    judgeSpace(demand, out);
    judgeWriteback(roots, out);
    out.push_back(judgePressure(roots.proc, "io"));
}

} // namespace shardscope::probes
