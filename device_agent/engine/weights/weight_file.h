// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::engine {

/// The model file as the loaders see it: a descriptor for reads and maps, and one for O_DIRECT
/// where the file system has it. Thread-safe.
class WeightFile {
public:
    static base::Result<WeightFile> open(const std::string& path);

    WeightFile(WeightFile&& other) noexcept;
    WeightFile& operator=(WeightFile&&) = delete;
    ~WeightFile();

    int descriptor() const { return m_fd; }
    base::Bytes size() const { return m_size; }
    const std::string& path() const { return m_path; }

    /// Fills `out`; Failed where the file has become shorter or the device fails.
    base::Status read(base::Bytes offset, void* out, base::Bytes bytes) const;

    /// The error of a failed read there; code 0: the file became shorter.
    base::Error readError(base::Bytes offset, int code) const;

    /// A descriptor whose reads bypass the page cache, tried with a real aligned read: an open
    /// alone can succeed where every read fails.
    base::Result<int> directDescriptor();

    /// From now on reads through the page cache bring in what was asked for and no more.
    void readNoFurther();
    /// Gives all its pages in the page cache back when the file is closed.
    void leaveNoPages() { m_leavesNoPages = true; }

private:
    WeightFile(std::string path, int fd, base::Bytes size)
        : m_path(std::move(path)), m_fd(fd), m_size(size) {}
    std::string m_path;
    int m_fd = -1;
    int m_directFd = -1;
    bool m_leavesNoPages = false;
    base::Bytes m_size;
};

} // namespace shardscope::engine
