// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::model {

/// A read-only file whose size is known; every read is checked against it. Thread-compatible.
class FileBytes {
public:
    /// Opens a regular file; BadInput where it is missing, unreadable or not a file.
    static base::Result<FileBytes> open(const std::string& path);

    FileBytes(FileBytes&& other) noexcept;
    FileBytes& operator=(FileBytes&& other) noexcept;
    ~FileBytes();

    base::Bytes size() const { return m_size; }
    const std::string& path() const { return m_path; }

    /// Fills `out` with `bytes` from `offset`; BadInput (with path and offset) past the end.
    base::Status read(base::Bytes offset, void* out, base::Bytes bytes) const;

    /// A BadInput error at an offset of this file.
    base::Error malformed(base::Bytes offset, std::string what) const;

private:
    FileBytes(std::string path, int fd, base::Bytes size);
    std::string m_path;
    int m_fd = -1;
    base::Bytes m_size;
};

} // namespace shardscope::model
