// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::probes {

/// A new file with a name of its own, removed with the object.
class TemporaryFile {
public:
    /// Failed where the folder cannot be written.
    static base::Result<TemporaryFile> create(const std::string& folder);
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    /// Appends; Failed where the storage is full or fails.
    base::Status append(std::span<const std::byte> bytes);

    int descriptor() const { return m_fd; }
    const std::string& path() const { return m_path; }
    base::Bytes size() const { return m_size; }

private:
    TemporaryFile(std::string path, int fd) : m_path(std::move(path)), m_fd(fd) {}
    std::string m_path;
    int m_fd = -1;
    base::Bytes m_size;
};

} // namespace shardscope::probes
