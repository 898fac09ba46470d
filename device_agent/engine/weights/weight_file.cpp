// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/weight_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sim_engine/base/format.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

using base::Bytes;
using base::Error;
using base::ErrorCode;

base::Result<WeightFile> WeightFile::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
        const int code = errno;
        if (fd >= 0)
            ::close(fd);
        return Error{ErrorCode::BadInput, std::strerror(code), path, "check the path"};
    }
    return WeightFile(path, fd, Bytes(info.st_size));
}

WeightFile::WeightFile(WeightFile&& other) noexcept
    : m_path(std::move(other.m_path)), m_fd(std::exchange(other.m_fd, -1)),
      m_directFd(std::exchange(other.m_directFd, -1)), m_leavesNoPages(other.m_leavesNoPages),
      m_size(other.m_size) {}

WeightFile::~WeightFile() {
    if (m_fd >= 0 && m_leavesNoPages)
        ::posix_fadvise(m_fd, 0, 0, POSIX_FADV_DONTNEED);
    for (const int fd : {m_fd, m_directFd})
        if (fd >= 0)
            ::close(fd);
}

base::Status WeightFile::read(Bytes offset, void* out, Bytes bytes) const {
    auto* at = static_cast<char*>(out);
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n =
            ::pread(m_fd, at + done, bytes.size() - done, static_cast<off_t>(offset.size() + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return readError(offset + Bytes(static_cast<std::int64_t>(done)), n < 0 ? errno : 0);
        done += static_cast<std::size_t>(n);
    }
    return {};
}

Error WeightFile::readError(Bytes offset, int code) const {
    return {
        ErrorCode::Failed, code ? std::strerror(code) : "the file became shorter",
        base::formatted("%s at offset %lld", m_path.c_str(), static_cast<long long>(offset.value)),
        "check the file and the storage"};
}

void WeightFile::readNoFurther() {
    ::posix_fadvise(m_fd, 0, 0, POSIX_FADV_RANDOM);
}

base::Result<int> WeightFile::directDescriptor() {
    if (m_directFd >= 0)
        return m_directFd;
    const auto refused = [&](int code) {
        return Error{
            ErrorCode::Failed, std::string("O_DIRECT is refused: ") + std::strerror(code), m_path,
            "use --loader pread"};
    };
    const int fd = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (fd < 0)
        return refused(errno);
    const std::unique_ptr<void, decltype(&std::free)> page(
        std::aligned_alloc(plan::kPage, plan::kPage), &std::free);
    const ssize_t n = ::pread(fd, page.get(), plan::kPage, 0);
    if (n <= 0) {
        const int code = n < 0 ? errno : EIO;
        ::close(fd);
        return refused(code);
    }
    m_directFd = fd;
    return fd;
}

} // namespace shardscope::engine
