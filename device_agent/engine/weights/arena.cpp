// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/arena.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#include "sim_engine/base/format.h"

namespace shardscope::engine {

base::Result<Arena> Arena::reserve(base::Bytes size) {
    void* begin =
        ::mmap(nullptr, size.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return base::Error{
            base::ErrorCode::Failed,
            "the arena of " + base::bytesText(size) + " is refused: " + std::strerror(errno),
            "memory", "free memory, or give a smaller --budget"};
    return Arena(static_cast<std::byte*>(begin), size);
}

void Arena::release() {
    ::madvise(m_begin, m_size.size(), MADV_DONTNEED);
}

Arena::Arena(Arena&& other) noexcept
    : m_begin(std::exchange(other.m_begin, nullptr)), m_size(other.m_size) {}

Arena::~Arena() {
    if (m_begin)
        ::munmap(m_begin, m_size.size());
}

} // namespace shardscope::engine
