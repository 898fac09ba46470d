// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/spool_relay.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/run_order.h"
#include "device_agent/agent/spool.h"
#include "sim_engine/base/bytes.h"

namespace shardscope::agent {
namespace {

using base::Bytes;
using base::Error;
using base::ErrorCode;

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr std::size_t kPiece = 256u << 10;
constexpr std::size_t kKindAt = 5, kLengthAt = 8;

/// A document that ends a run; frames are ours, so the first key tells.
bool endsRun(std::string_view payload) {
    return payload.starts_with("{\"result\"") || payload.starts_with("{\"error\"");
}

} // namespace

base::Result<std::unique_ptr<SpoolRelay>>
SpoolRelay::open(const std::string& path, Bytes from, FrameOut& out) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return Error{
            ErrorCode::BadInput, std::strerror(errno), path,
            "the run was fetched or swept already: run it again"};
    std::unique_ptr<SpoolRelay> relay(new SpoolRelay(fd, from, out));
    struct stat info {};
    if (::fstat(fd, &info) != 0 || from > Bytes(info.st_size))
        return Error{ErrorCode::Usage, "the run has fewer bytes than that", "from", "start at 0"};
    return relay;
}

void SpoolRelay::start() {
    m_thread = std::thread([this] { loop(); });
}

SpoolRelay::~SpoolRelay() {
    m_quit.store(true);
    if (m_thread.joinable())
        m_thread.join();
    ::close(m_fd);
}

bool SpoolRelay::isAlive() const {
    return writerOf(m_fd).has_value();
}

void SpoolRelay::stopRun() const {
    if (const auto pid = writerOf(m_fd); pid && *pid > 0) // 0: one of another PID namespace
        ::kill(*pid, SIGTERM);
}

void SpoolRelay::loop() {
    while (!m_quit.load()) {
        const bool wasAlive = isAlive(); // asked first: what it wrote before it went is read below
        if (handOver())
            continue;
        if (!wasAlive)
            break;
        std::this_thread::sleep_for(kPause);
    }
    if (!m_quit.load() && !m_hasResult)
        m_out.control(
            {{"error", toJson(Error{
                           ErrorCode::Failed,
                           "the agent was killed in the run, perhaps since memory ran out", "run",
                           "see dmesg on the board; run with a lower --budget"})}});
    m_over.store(true);
}

bool SpoolRelay::handOver() {
    m_buffer.resize(kPiece);
    std::size_t have = 0;
    const auto fill = [&](std::size_t wanted) {
        m_buffer.resize(std::max(m_buffer.size(), wanted));
        while (have < wanted) {
            const ssize_t n = ::pread(
                m_fd, m_buffer.data() + have, m_buffer.size() - have,
                static_cast<off_t>(m_at.value) + static_cast<off_t>(have));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            have += static_cast<std::size_t>(n);
        }
        return true;
    };
    if (!fill(trace::kFrameHeaderBytes))
        return false;
    const std::size_t whole =
        trace::kFrameHeaderBytes + base::loadAs<std::uint32_t>(m_buffer.data() + kLengthAt);
    if (whole > trace::kFrameHeaderBytes + trace::kLargestPayload || !fill(whole))
        return false;
    const auto kind = static_cast<trace::FrameKind>(m_buffer[kKindAt]);
    const std::string_view frame(m_buffer.data(), whole);
    if (kind == trace::FrameKind::Control)
        m_hasResult = m_hasResult || endsRun(frame.substr(trace::kFrameHeaderBytes));
    m_out.relay(kind, frame);
    m_at += Bytes(static_cast<std::int64_t>(whole));
    return true;
}

} // namespace shardscope::agent
