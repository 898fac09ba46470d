// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "device_agent/agent/frame_out.h"
#include "sim_engine/base/result.h"
#include "sim_engine/base/units.h"

namespace shardscope::agent {

/// The stream of a spooled run on its way into its file. Only whole frames stand in the file, since
/// others read it while it grows. Events beyond the limit, or for which the disk has no room, are
/// left out: their numbers are missing, so a reader counts them. Control frames have a reserve on
/// the disk, for a run whose result is lost was for nothing. Thread-safe through FrameOut.
class SpoolFile final : public FrameSink {
public:
    /// Opens an existing file, locks it and puts the reserve beside it. Failed where that cannot
    /// be, so before the run begins.
    static base::Result<std::unique_ptr<SpoolFile>> open(const std::string& path, base::Bytes most);
    ~SpoolFile() override;
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    int put(trace::FrameKind kind, std::string_view frame) override;

private:
    SpoolFile(int fd, std::string reserve, base::Bytes most)
        : m_fd(fd), m_reserve(std::move(reserve)), m_most(most) {}
    int append(std::string_view frame);

    int m_fd;
    std::string m_reserve; ///< path
    base::Bytes m_most;
    base::Bytes m_size;
};

} // namespace shardscope::agent
