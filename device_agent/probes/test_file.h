// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "device_agent/probes/temporary_file.h"
#include "sim_engine/base/result.h"

namespace shardscope::probes {

inline constexpr std::size_t kProbePage = 4096;

/// Memory on a page boundary, as O_DIRECT wants it; it is touched, so that no read pays for it.
class PageBuffer {
public:
    explicit PageBuffer(std::size_t bytes);
    std::byte* get() const { return m_bytes.get(); } ///< null where there is no memory

private:
    std::unique_ptr<std::byte, decltype(&std::free)> m_bytes;
};

/// The file that storage is measured on: written into the folder of the models (or where --folder
/// says), removed in the end.
class TestFile {
public:
    /// Writes for at most `seconds`, up to `most` bytes and a quarter of the free space. Failed
    /// where the folder cannot be written.
    static base::Result<TestFile>
    create(const std::string& folder, std::size_t most, double seconds);

    int descriptor() const { return m_file.descriptor(); }
    const std::string& path() const { return m_file.path(); }
    std::size_t size() const { return m_file.size().size(); }

    /// True on a file system that lives in memory: what it reads says nothing of a device.
    bool isInMemory() const;
    /// Asks the kernel to forget the pages; true when it has, as mincore(2) tells.
    bool dropCache() const;
    /// Share of the pages that are in the page cache.
    double residentShare() const;
    /// Brings all of it into the page cache.
    void warmCache() const;
    /// A descriptor for O_DIRECT, tried with a real read; -1 where it is refused.
    int openDirect() const;

private:
    explicit TestFile(TemporaryFile file) : m_file(std::move(file)) {}
    TemporaryFile m_file;
};

} // namespace shardscope::probes
