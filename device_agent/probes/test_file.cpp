// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/test_file.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

#include "device_agent/probes/stopwatch.h"

namespace shardscope::probes {
namespace {

/// A few pages that other processes have mapped, or that the kernel held back, do no harm.
constexpr double kCold = 0.02;

} // namespace

PageBuffer::PageBuffer(std::size_t bytes)
    : m_bytes(static_cast<std::byte*>(std::aligned_alloc(kProbePage, bytes)), &std::free) {
    if (m_bytes)
        std::memset(m_bytes.get(), 1, bytes);
}

base::Result<TestFile>
TestFile::create(const std::string& folder, std::size_t most, double seconds) {
    auto file = TemporaryFile::create(folder);
    if (!file)
        return file.error();
    struct statvfs space {};
    std::uint64_t room = most;
    if (::fstatvfs(file->descriptor(), &space) == 0)
        room = std::min<std::uint64_t>(room, std::uint64_t{space.f_bavail} * space.f_frsize / 4);
    // Not compressible, for file systems that would.
    std::vector<std::byte> piece(std::size_t{4} << 20);
    std::uint32_t state = 1;
    for (std::byte& b : piece)
        b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
    double spent = 0;
    base::Status status;
    while (status.ok() && spent < seconds &&
           (file->size().value == 0 || file->size().size() + piece.size() <= room))
        spent += secondsOf([&] {
            status = file->append(piece);
            ::fdatasync(file->descriptor());
        });
    if (!status)
        return status.error();
    return TestFile(std::move(*file));
}

bool TestFile::isInMemory() const {
    struct statfs info {};
    if (::fstatfs(descriptor(), &info) != 0)
        return false;
    const auto type = static_cast<unsigned long>(info.f_type);
    return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

double TestFile::residentShare() const {
    const std::size_t pages = size() / kProbePage;
    void* const at = ::mmap(nullptr, pages * kProbePage, PROT_READ, MAP_SHARED, descriptor(), 0);
    if (at == MAP_FAILED)
        return 1; // not known to be cold
    std::vector<unsigned char> present(pages);
    const bool isTold = ::mincore(at, pages * kProbePage, present.data()) == 0;
    ::munmap(at, pages * kProbePage);
    if (!isTold)
        return 1;
    const auto resident =
        std::count_if(present.begin(), present.end(), [](unsigned char p) { return p & 1; });
    return static_cast<double>(resident) / static_cast<double>(pages);
}

bool TestFile::dropCache() const {
    ::posix_fadvise(descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    return residentShare() <= kCold;
}

void TestFile::warmCache() const {
    std::vector<std::byte> piece(std::size_t{1} << 20);
    for (std::size_t at = 0; at < size(); at += piece.size())
        if (::pread(descriptor(), piece.data(), piece.size(), static_cast<off_t>(at)) <= 0)
            return;
}

int TestFile::openDirect() const {
    const PageBuffer page(kProbePage);
    const int fd = ::open(path().c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (fd < 0)
        return -1;
    if (page.get() && ::pread(fd, page.get(), kProbePage, 0) == ssize_t{kProbePage})
        return fd;
    ::close(fd);
    return -1;
}

} // namespace shardscope::probes
