// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/spool_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "device_agent/agent/spool.h"

namespace shardscope::agent {
namespace {

/// Room for the header of a run, its text and its result.
constexpr off_t kReserveBytes = 256 << 10;

base::Error failed(int error, const std::string& path) {
    return {
        base::ErrorCode::Failed, std::strerror(error), path,
        "the stream of a run is kept there: free some space, or give --spool DIR"};
}

} // namespace

base::Result<std::unique_ptr<SpoolFile>>
SpoolFile::open(const std::string& path, base::Bytes most) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return failed(errno, path);
    std::unique_ptr<SpoolFile> file(new SpoolFile(fd, path + ".reserve", most));
    if (!lockForWriting(fd))
        return failed(errno, path);
    const int reserve =
        ::open(file->m_reserve.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (reserve < 0)
        return failed(errno, path);
    const int error = ::posix_fallocate(reserve, 0, kReserveBytes);
    ::close(reserve);
    if (error != 0)
        return failed(error, path);
    return file;
}

SpoolFile::~SpoolFile() {
    ::unlink(m_reserve.c_str());
    ::close(m_fd);
}

int SpoolFile::put(trace::FrameKind kind, std::string_view frame) {
    const bool isControl = kind == trace::FrameKind::Control;
    const base::Bytes after = m_size + base::Bytes(static_cast<std::int64_t>(frame.size()));
    if (!isControl && after > m_most)
        return 0;
    int error = append(frame);
    if (error != 0 && isControl && ::unlink(m_reserve.c_str()) == 0)
        error = append(frame);
    if (error == 0)
        m_size = after;
    return 0; // what is missing is seen by its number; the run goes on
}

/// 0, or an errno; then the file ends where it did before.
int SpoolFile::append(std::string_view frame) {
    for (std::size_t done = 0; done < frame.size();) {
        const ssize_t n = ::pwrite(
            m_fd, frame.data() + done, frame.size() - done,
            static_cast<off_t>(m_size.value) + static_cast<off_t>(done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            const int error = errno;
            return ::ftruncate(m_fd, static_cast<off_t>(m_size.value)) == 0 ? error : errno;
        }
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

} // namespace shardscope::agent
