// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/trim_process.h"

#include <cstdint>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(__ELF__)
// The linker's: the first byte of the program, and the one behind its code.
extern "C" const char __executable_start[];
extern "C" const char etext[];
#define SHARDSCOPE_KNOWS_ITS_CODE 1
#endif

namespace shardscope::agent {

void releaseFreeHeap() {
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
}

void releaseCode() {
#if defined(SHARDSCOPE_KNOWS_ITS_CODE)
    // Code is mapped read-only from the file, so nothing is lost. What stands before it in the
    // same range of addresses (headers, constants) is read-only as well.
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(__executable_start) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(etext) / page * page;
    if (begin < end)
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

void useOneHeap() {
#if defined(__GLIBC__)
    ::mallopt(M_ARENA_MAX, 1);
#endif
}

} // namespace shardscope::agent
