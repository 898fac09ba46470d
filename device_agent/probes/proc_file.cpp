// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/probes/proc_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace shardscope::probes {

ProcFile::ProcFile(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ProcFile::ProcFile(ProcFile&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

ProcFile& ProcFile::operator=(ProcFile&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

ProcFile::~ProcFile() {
    if (m_fd >= 0)
        ::close(m_fd);
}

std::string_view ProcFile::read(std::span<char> buffer) const {
    std::size_t done = 0;
    while (m_fd >= 0 && done < buffer.size()) {
        const ssize_t n =
            ::pread(m_fd, &buffer[done], buffer.size() - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += static_cast<std::size_t>(n);
    }
    return {buffer.data(), done};
}

std::optional<std::int64_t> ProcFile::readNumber() const {
    std::array<char, 32> buffer;
    return leadingNumber(read(buffer));
}

std::optional<std::int64_t> leadingNumber(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos)
        return std::nullopt;
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), value);
    return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> numberAfter(std::string_view text, std::string_view key) {
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        if (line.size() > key.size() && line.starts_with(key) &&
            (line[key.size()] == ' ' || line[key.size()] == '\t'))
            return leadingNumber(line.substr(key.size()));
        at += line.size() + 1;
    }
    return std::nullopt;
}

std::string readKernelText(const std::string& path) {
    std::string text(std::size_t{64} << 10, '\0');
    text.resize(ProcFile(path).read(text).size());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

} // namespace shardscope::probes
