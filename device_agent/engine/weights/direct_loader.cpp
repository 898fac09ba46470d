// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/direct_loader.h"

#include <cerrno>
#include <unistd.h>

namespace shardscope::engine {

using base::Bytes;
using base::Status;

Status DirectLoader::load(const plan::Shard& shard, std::byte* place) {
    for (const plan::Extent& e : shard.extents)
        if (Status status = read(pagesOf(e), e.fileOffset + e.bytes, place); !status)
            return status;
    return {};
}

Status DirectLoader::read(const PageSpan& pages, Bytes end, std::byte* place) const {
    // The last page of a file may be short: the read ends there, and nothing is missing.
    for (Bytes at = pages.fileOffset; at < end;) {
        const Bytes done = at - pages.fileOffset;
        const ssize_t n = ::pread(
            m_fd, place + (pages.place + done).value, (pages.bytes - done).size(),
            static_cast<off_t>(at.value));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return m_file.readError(at, n < 0 ? errno : 0);
        at += Bytes(n);
        if (at < end && endsFile(n))
            return m_file.readError(at, 0);
    }
    return {};
}

} // namespace shardscope::engine
