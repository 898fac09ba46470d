// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/storage_rates.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "device_agent/engine/kernels/elementwise.h"
#include "device_agent/probes/mount_facts.h"
#include "device_agent/probes/process_memory.h"
#include "device_agent/probes/stopwatch.h"
#include "device_agent/probes/temporary_file.h"
#include "sim_engine/base/format.h"

namespace shardscope::probes {
namespace {

using base::Bytes;
using engine::kernels::ThreadPool;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLarge = std::size_t{1} << 20, kSmall = std::size_t{64} << 10;

/// Memory on a page boundary, as O_DIRECT wants it.
class PageBuffer {
public:
    explicit PageBuffer(std::size_t bytes)
        : m_bytes(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)), &std::free) {
        if (m_bytes)
            std::memset(m_bytes.get(), 1, bytes);
    }
    std::byte* get() const { return m_bytes.get(); }

private:
    std::unique_ptr<std::byte, decltype(&std::free)> m_bytes;
};

/// Reads pieces of a file one after the other, over the end from its begin on.
class PieceReader {
public:
    PieceReader(int fd, Bytes size, std::size_t piece)
        : m_fd(fd), m_pieces(size.size() / piece), m_piece(piece) {}

    /// False where the read fails. Whether the pieces follow each other is up to `step`.
    bool read(std::byte* out, std::size_t step) {
        const auto at = static_cast<off_t>(m_next * m_piece);
        m_next = (m_next + step) % m_pieces;
        return ::pread(m_fd, out, m_piece, at) == static_cast<ssize_t>(m_piece);
    }
    std::size_t pieces() const { return m_pieces; }

private:
    int m_fd;
    std::size_t m_pieces, m_piece, m_next = 0;
};

/// From the time of a large and of a small read.
ReadCost costOf(double large, double small) {
    const double perByte =
        std::max((large - small) / double{kLarge - kSmall}, large * 0.5 / kLarge);
    return {std::max(0.0, small - perByte * kSmall) * 1e9, 1 / perByte};
}

/// Grows the file for about a second, up to 64 MiB and a quarter of the free space.
base::Status fill(TemporaryFile& file) {
    struct statvfs space {};
    std::uint64_t room = std::uint64_t{64} << 20;
    if (::fstatvfs(file.descriptor(), &space) == 0)
        room = std::min<std::uint64_t>(room, std::uint64_t{space.f_bavail} * space.f_frsize / 4);
    // Not compressible, for file systems that would.
    std::vector<std::byte> piece(std::size_t{4} << 20);
    std::uint32_t state = 1;
    for (std::byte& b : piece)
        b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
    double seconds = 0;
    base::Status status;
    while (status.ok() && seconds < 1 &&
           (file.size().value == 0 || file.size().size() + piece.size() <= room))
        seconds += secondsOf([&] {
            status = file.append(piece);
            ::fdatasync(file.descriptor());
        });
    return status;
}

/// Median seconds of reads of `piece` bytes, each at another place; none where one fails.
std::optional<double> readSeconds(int fd, Bytes size, std::size_t piece, std::byte* out) {
    PieceReader reader(fd, size, piece);
    // An odd step passes over all of a power of two of pieces, far from one to the next.
    const std::size_t step = piece == kLarge ? 1 : reader.pieces() / 2 - 1;
    constexpr std::size_t kReads = 24;
    std::vector<double> times;
    bool isGood = true;
    for (std::size_t i = 0; i < std::min(kReads, reader.pieces()); ++i)
        times.push_back(secondsOf([&] { isGood = reader.read(out, step) && isGood; }));
    if (!isGood)
        return std::nullopt;
    std::nth_element(
        times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// Makes the kernel forget the pages of a file that was written out.
void dropCache(int fd) {
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/// Reads of the device and how they were made; counts bytes, so that what the page cache served is
/// never taken for the speed of a disk.
class DeviceReads {
public:
    explicit DeviceReads(const TemporaryFile& file) : m_file(file) {}

    ReadCost measure(std::byte* out) {
        m_how = "O_DIRECT";
        int fd = ::open(m_file.path().c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
        const bool isDirect = fd >= 0 && ::pread(fd, out, kPage, 0) == static_cast<ssize_t>(kPage);
        if (!isDirect) {
            m_how = "cold buffered reads, as O_DIRECT is refused here";
            if (fd >= 0)
                ::close(fd);
            fd = ::open(m_file.path().c_str(), O_RDONLY | O_CLOEXEC);
            ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); // no read-ahead
        }
        const auto large = counted(fd, kLarge, out, isDirect);
        const auto small = counted(fd, kSmall, out, isDirect);
        ::close(fd);
        if (!large || !small)
            return {};
        m_large = *large;
        m_small = *small;
        return costOf(*large, *small);
    }
    std::string words() const {
        if (m_large <= 0)
            return "device not measured (" + m_how + "; the page cache served the reads)";
        return base::formatted(
            "device by %s: 1 MiB reads %s, 64 KiB reads %s", m_how.c_str(),
            base::rateText(kLarge / m_large).c_str(), base::rateText(kSmall / m_small).c_str());
    }

private:
    /// Median seconds of a read; none where the storage was not asked for nearly all of the bytes,
    /// or does not tell.
    std::optional<double> counted(int fd, std::size_t piece, std::byte* out, bool isDirect) const {
        dropCache(m_file.descriptor());
        const ProcessMemory memory = ProcessMemory::open();
        const auto before = memory.ioBytes();
        const auto seconds = readSeconds(fd, m_file.size(), piece, out);
        const auto after = memory.ioBytes();
        if (!seconds)
            return std::nullopt;
        if (!before || !after)
            return isDirect ? seconds : std::nullopt;
        const std::size_t reads = std::min<std::size_t>(24, m_file.size().size() / piece);
        const double asked = static_cast<double>(reads * piece);
        return (*after - *before).real() >= 0.9 * asked ? seconds : std::nullopt;
    }
    const TemporaryFile& m_file;
    std::string m_how;
    double m_large = 0, m_small = 0;
};

/// Reads through the page cache, all of the file being in it. They go to ever other places, as the
/// slots of a run are larger than the caches next to a core.
ReadCost cachedReads(const TemporaryFile& file) {
    constexpr std::size_t kPlaces = 8;
    const PageBuffer slots(kPlaces * kLarge);
    if (!slots.get())
        return {};
    PieceReader large(file.descriptor(), file.size(), kLarge);
    PieceReader small(file.descriptor(), file.size(), kSmall);
    std::size_t place = 0;
    const auto next = [&] { return slots.get() + (place++ % kPlaces) * kLarge; };
    for (std::size_t i = 0; i < large.pieces(); ++i)
        large.read(next(), 1);
    return costOf(medianSeconds([&] { large.read(next(), 1); }), medianSeconds([&] {
                      small.read(next(), 1);
                  }));
}

/// Seconds for mapping all pages of the file at once and unmapping them, for each page.
double faultSeconds(const TemporaryFile& file) {
    const std::size_t bytes = std::min<std::size_t>(file.size().size(), std::size_t{8} << 20);
    const double seconds = medianSeconds([&] {
        void* const at =
            ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.descriptor(), 0);
        if (at != MAP_FAILED)
            ::munmap(at, bytes);
    });
    return seconds / static_cast<double>(bytes / kPage);
}

/// All threads compute while one more reads; each alone takes about 30 ms.
double overlapOf(const TemporaryFile& file, ThreadPool& pool, std::byte* out) {
    constexpr double kSeconds = 0.03;
    PieceReader reader(file.descriptor(), file.size(), kLarge);
    const std::vector<float> numbers(std::size_t{1} << 20, 0.5f);
    constexpr std::size_t kPiece = std::size_t{16} << 10;
    std::vector<float> found(numbers.size() / kPiece);
    const auto computeOnce = [&] {
        pool.parallelFor(found.size(), [&](std::size_t task, unsigned) {
            found[task] = engine::kernels::maxOf(&numbers[task * kPiece], kPiece);
        });
    };
    const auto readOnce = [&] { reader.read(out, 1); };
    const auto times = [&](double each) {
        return static_cast<std::size_t>(std::clamp(kSeconds / each, 4.0, 1e6));
    };
    const std::size_t computes = times(medianSeconds(computeOnce, 0.01));
    const std::size_t reads = times(medianSeconds(readOnce, 0.01));
    const auto compute = [&] {
        for (std::size_t i = 0; i < computes; ++i)
            computeOnce();
    };
    const auto read = [&] {
        for (std::size_t i = 0; i < reads; ++i)
            readOnce();
    };
    const double computing = callTimes(compute, 0.1).quickest;
    const double reading = callTimes(read, 0.1).quickest;
    const auto both = [&] {
        std::thread io(read);
        compute();
        io.join();
    };
    const double together = callTimes(both, 0.2).quickest;
    const double longer = std::max(computing, reading), shorter = std::min(computing, reading);
    return std::clamp((together - longer) / shorter, 0.0, 1.0);
}

} // namespace

base::Result<StorageRates> measureStorage(const std::string& folder, ThreadPool& pool) {
    auto file = TemporaryFile::create(folder);
    if (!file)
        return file.error();
    if (base::Status status = fill(*file); !status)
        return status.error();
    const PageBuffer buffer(kLarge);
    if (!buffer.get())
        return base::Error{
            base::ErrorCode::Failed, "no memory for a read of 1 MiB", folder, "free some memory"};
    StorageRates rates;
    DeviceReads device(*file);
    rates.device = device.measure(buffer.get());
    rates.cached = cachedReads(*file);
    if (rates.cached.bytesPerSecond <= 0)
        return base::Error{
            base::ErrorCode::Failed, "no memory for reads", folder, "free some memory"};
    rates.pageFaultNs = faultSeconds(*file) * 1e9;
    rates.overlap = overlapOf(*file, pool, buffer.get());
    const std::string mount = mountWordsOf(file->descriptor());
    rates.words = (mount.empty() ? "" : mount + "; ") + device.words();
    return rates;
}

} // namespace shardscope::probes
