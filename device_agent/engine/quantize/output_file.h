// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::engine {

/// A file that comes to stand under its name only when all of it is written: until then it has the
/// temporary name "NAME.part", which goes away with the object. Thread-compatible.
class OutputFile {
public:
    static base::Result<OutputFile> create(const std::string& path);

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    base::Status write(const void* bytes, std::size_t count);
    /// On the storage, and renamed.
    base::Status finish();

private:
    OutputFile(std::string path, int fd) : m_path(std::move(path)), m_fd(fd) {}
    std::string temporary() const { return m_path + ".part"; }
    base::Error failure() const;

    std::string m_path;
    int m_fd = -1;
    bool m_isPending = true;
};

} // namespace shardscope::engine
