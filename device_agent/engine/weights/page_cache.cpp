// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/page_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_engine/base/format.h"

namespace shardscope::engine {

using base::Bytes;

CacheChoice choosePageCache(const plan::Plan& plan, std::optional<Bytes> freeRam) {
    Bytes streamed, all;
    for (const plan::Shard& shard : plan.shards) {
        all += shard.bytes;
        streamed += shard.pinned ? Bytes(0) : shard.bytes;
    }
    if (!freeRam)
        return {
            CacheUse::Nothing, "page cache: read pages are given back, free memory is not known"};
    const Bytes room(std::max<std::int64_t>(0, (*freeRam - plan.peak).value) / 2);
    const auto text = [&](const char* what, Bytes bytes, const char* fits) {
        return base::formatted(
            "page cache: %s (%s %s %s)", what, base::bytesText(bytes).c_str(), fits,
            base::bytesText(room).c_str());
    };
    if (all <= room)
        return {CacheUse::Keep, text("read pages stay", all, "of")};
    if (streamed <= room)
        return {CacheUse::Streamed, text("streamed pages stay, pinned leave", streamed, "of")};
    return {CacheUse::Nothing, text("read pages are given back", streamed, "do not fit in")};
}

void dropFromCache(const WeightFile& file, const PageSpan& pages) {
    ::posix_fadvise(
        file.descriptor(), static_cast<off_t>(pages.fileOffset.value),
        static_cast<off_t>(pages.bytes.value), POSIX_FADV_DONTNEED);
}

base::Status forgetPages(const WeightFile& file) {
    // The kernel keeps pages that it has not written yet.
    int code = ::fdatasync(file.descriptor()) == 0 ? 0 : errno;
    if (code == 0)
        code = ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    if (code == 0 || code == EINVAL || code == EROFS) // there is nothing to write, or to give back
        return {};
    return base::Error{
        base::ErrorCode::Failed,
        std::string("its pages cannot be given back: ") + std::strerror(code), file.path(),
        "check the storage, or run it without --cold"};
}

double cachedShare(const WeightFile& file) {
    constexpr std::size_t kPages = 4096;
    constexpr std::size_t kWindow = kPages * static_cast<std::size_t>(plan::kPage);
    const std::size_t size = file.size().size();
    std::size_t cached = 0, total = 0;
    for (std::size_t at = 0; at < size; at += kWindow) {
        const std::size_t bytes = std::min(kWindow, size - at);
        void* const map = ::mmap(
            nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), static_cast<off_t>(at));
        if (map == MAP_FAILED)
            return 0;
        std::array<unsigned char, kPages> resident;
        const std::size_t pages = (bytes + static_cast<std::size_t>(plan::kPage) - 1) /
                                  static_cast<std::size_t>(plan::kPage);
        if (::mincore(map, bytes, resident.data()) == 0)
            cached += static_cast<std::size_t>(std::count_if(
                resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(pages),
                [](unsigned char page) { return (page & 1) != 0; }));
        total += pages;
        ::munmap(map, bytes);
    }
    return total > 0 ? static_cast<double>(cached) / static_cast<double>(total) : 0;
}

} // namespace shardscope::engine
