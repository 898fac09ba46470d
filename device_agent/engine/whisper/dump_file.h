// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::engine {

/// Raw little-endian float32 values on their way to a file: written under a temporary name, renamed
/// when all is there. Without a path it takes values and keeps none. Thread-compatible.
class DumpFile {
public:
    explicit DumpFile(std::string path) : m_path(std::move(path)) {}
    ~DumpFile();
    DumpFile(const DumpFile&) = delete;
    DumpFile& operator=(const DumpFile&) = delete;

    bool wanted() const { return !m_path.empty(); }
    base::Status create();
    base::Status write(const float* values, std::size_t count);
    base::Status finish();

private:
    base::Error failure() const;
    std::string m_path;
    std::string m_temporary;
    int m_fd = -1;
};

} // namespace shardscope::engine
