// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/shard_loader.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_engine/base/format.h"

namespace shardscope::engine {
namespace {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Status;
using plan::Extent;
using plan::kPage;
using plan::Loader;
using plan::Shard;

/// Whole pages around an extent: where they begin in the shard's block and in the file.
struct Pages {
    Bytes place, fileOffset, bytes;
};

Pages pagesOf(const Extent& e) {
    const Bytes lead(e.fileOffset.value % kPage);
    return {e.place - lead, e.fileOffset - lead, base::alignUp(lead + e.bytes, kPage)};
}

/// Reads into the arena through the page cache.
class PreadLoader final : public ShardLoader {
public:
    explicit PreadLoader(const WeightFile& file) : m_file(file) {}

    Status load(const Shard& shard, std::byte* place) override {
        for (const Extent& e : shard.extents)
            if (Status status = m_file.read(e.fileOffset, place + e.place.value, e.bytes); !status)
                return status;
        return {};
    }
    Loader kind() const override { return Loader::Pread; }

private:
    const WeightFile& m_file;
};

/// Reads into the arena past the page cache.
class DirectLoader final : public ShardLoader {
public:
    DirectLoader(const WeightFile& file, int fd) : m_file(file), m_fd(fd) {}

    Status load(const Shard& shard, std::byte* place) override {
        for (const Extent& e : shard.extents)
            if (Status status = read(pagesOf(e), place); !status)
                return status;
        return {};
    }
    Loader kind() const override { return Loader::Direct; }

private:
    Status read(const Pages& pages, std::byte* place) const {
        const Bytes end = std::min(pages.fileOffset + pages.bytes, m_file.size());
        for (Bytes at = pages.fileOffset; at < end;) {
            const Bytes done = at - pages.fileOffset;
            const ssize_t n = ::pread(
                m_fd, place + (pages.place + done).value, (pages.bytes - done).size(),
                static_cast<off_t>(at.value));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return Error{
                    ErrorCode::Failed, n < 0 ? std::strerror(errno) : "the file became shorter",
                    base::formatted(
                        "%s at offset %lld", m_file.path().c_str(),
                        static_cast<long long>(at.value)),
                    "use --loader pread"};
            at += Bytes(n);
        }
        return {};
    }
    const WeightFile& m_file;
    int m_fd;
};

/// Maps pages of the file over their place in the arena: lazily, or all at once (populate).
class MapLoader final : public ShardLoader {
public:
    MapLoader(const WeightFile& file, bool populate) : m_file(file), m_populate(populate) {}

    Status load(const Shard& shard, std::byte* place) override {
        const int flags = MAP_PRIVATE | MAP_FIXED | (m_populate ? MAP_POPULATE : 0);
        for (const Extent& e : shard.extents) {
            const Pages p = pagesOf(e);
            if (::mmap(
                    place + p.place.value, p.bytes.size(), PROT_READ, flags, m_file.descriptor(),
                    static_cast<off_t>(p.fileOffset.value)) == MAP_FAILED)
                return mapError(p.fileOffset);
        }
        return {};
    }
    /// Gives the place back to the arena as fresh pages.
    Status release(const Shard& shard, std::byte* place) override {
        const int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
        if (::mmap(place, shard.held.size(), PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
            return mapError(Bytes(0));
        return {};
    }
    Loader kind() const override { return m_populate ? Loader::Populate : Loader::Mmap; }

private:
    Error mapError(Bytes offset) const {
        return {
            ErrorCode::Failed, std::string("mmap failed: ") + std::strerror(errno),
            base::formatted(
                "%s at offset %lld", m_file.path().c_str(), static_cast<long long>(offset.value)),
            "use --loader pread"};
    }
    const WeightFile& m_file;
    bool m_populate;
};

} // namespace

base::Result<ChosenLoader> chooseLoader(Loader wanted, WeightFile& file) {
    switch (wanted) {
    case Loader::Mmap:
    case Loader::Populate:
        return ChosenLoader{std::make_unique<MapLoader>(file, wanted == Loader::Populate), {}};
    case Loader::Direct: {
        auto fd = file.directDescriptor();
        if (fd)
            return ChosenLoader{std::make_unique<DirectLoader>(file, *fd), {}};
        return ChosenLoader{
            std::make_unique<PreadLoader>(file), "pread instead of direct: " + fd.error().what};
    }
    case Loader::Uring: // its queue comes with the engine at the limit; until then say so
        return Error{
            ErrorCode::Usage, "this build has no io_uring loader", "--loader",
            "give direct, pread, populate or mmap"};
    case Loader::Auto:
    case Loader::Pread:
        break;
    }
    return ChosenLoader{std::make_unique<PreadLoader>(file), {}};
}

} // namespace shardscope::engine
