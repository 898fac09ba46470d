// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/map_loader.h"

#include <cerrno>
#include <sys/mman.h>

#include "device_agent/engine/weights/page_span.h"

namespace shardscope::engine {

base::Status MapLoader::load(const plan::Shard& shard, std::byte* place) {
    const int flags = MAP_PRIVATE | MAP_FIXED | (m_populate ? MAP_POPULATE : 0);
    for (const plan::Extent& e : shard.extents) {
        const PageSpan p = pagesOf(e);
        if (::mmap(
                place + p.place.value, p.bytes.size(), PROT_READ, flags, m_file.descriptor(),
                static_cast<off_t>(p.fileOffset.value)) == MAP_FAILED)
            return m_file.readError(p.fileOffset, errno);
    }
    return {};
}

base::Status MapLoader::release(const plan::Shard& shard, std::byte* place) {
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
    if (::mmap(place, shard.held.size(), PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return m_file.readError(base::Bytes(0), errno);
    for (const plan::Extent& e : shard.extents)
        if (m_cache.leaves(shard))
            dropFromCache(m_file, pagesOf(e));
    return {};
}

} // namespace shardscope::engine
