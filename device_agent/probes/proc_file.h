// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shardscope::probes {

/// A file of the kernel (procfs, sysfs, cgroupfs) that is kept open and read again and again; each
/// read makes the kernel write it anew. Reading allocates nothing. Thread-safe.
class ProcFile {
public:
    ProcFile() = default;
    /// Where the file cannot be opened, isOpen() is false and every read is empty.
    explicit ProcFile(const std::string& path);
    ProcFile(ProcFile&& other) noexcept;
    ProcFile& operator=(ProcFile&& other) noexcept;
    ~ProcFile();

    bool isOpen() const { return m_fd >= 0; }
    /// What stands in the file now, as much as `buffer` holds.
    std::string_view read(std::span<char> buffer) const;
    /// The integer at the begin of the file.
    std::optional<std::int64_t> readNumber() const;

private:
    int m_fd = -1;
};

/// The integer at the begin of `text`, after blanks; none where there is none.
std::optional<std::int64_t> leadingNumber(std::string_view text);

/// The integer after `key` on the line that begins with it: "Pss:" in smaps_rollup, "file" in
/// memory.stat. The key must be followed by a blank.
std::optional<std::int64_t> numberAfter(std::string_view text, std::string_view key);

/// A small file of the kernel read once, without its last line break; empty where there is none.
std::string readKernelText(const std::string& path);

} // namespace shardscope::probes
