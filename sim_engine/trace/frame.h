// SPDX-License-Identifier: GPL-3.0-or-later
// Frames: the wire between agent and desktop, and byte for byte the recording of a run (.sst).
// Header of 24 bytes, little-endian, then the payload:
//   u32 magic "SSF1"   u8 version   u8 kind   u16 flags (0)   u32 payload bytes
//   u32 CRC-32C of the header with this field zero, then of the payload      u64 sequence number
// Control payloads are UTF-8 JSON; Events payloads are whole trace::Event records. The sequence
// number of an Events frame is that of its first event, so a gap is seen and nothing shown twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim_engine/trace/event.h"

namespace shardscope::trace {

inline constexpr std::uint32_t kFrameMagic = 0x31465353; // "SSF1"
inline constexpr std::uint8_t kFrameVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 24;
/// A longer frame is taken for damage: nothing we send comes near.
inline constexpr std::uint32_t kLargestPayload = 16u << 20;

enum class FrameKind : std::uint8_t { Control = 1, Events = 2 };

/// Appends a frame to `out`.
void appendFrame(
    std::string& out, FrameKind kind, std::uint64_t sequence, std::string_view payload);
void appendControl(std::string& out, std::uint64_t sequence, std::string_view json);
void appendEvents(std::string& out, std::uint64_t firstSequence, std::span<const Event> events);

struct Frame {
    FrameKind kind = FrameKind::Control;
    std::uint64_t sequence = 0;
    std::string_view payload; ///< valid until the next call of the reader

    std::size_t eventCount() const { return payload.size() / sizeof(Event); }
    /// The i-th record of an Events frame.
    Event event(std::size_t i) const;
};

/// Takes bytes in any pieces and gives whole, intact frames. What stands before a magic (login
/// banners, damage) is skipped and counted. Thread-compatible.
class FrameReader {
public:
    void push(std::string_view bytes);

    /// No more bytes come: what waits for the rest of its frame is damage, behind which whole
    /// frames may stand.
    void end() { m_ended = true; }

    /// The next frame; none until more bytes come.
    std::optional<Frame> next();

    /// Bytes that were no part of an intact frame.
    std::uint64_t skippedBytes() const { return m_skipped; }
    /// Frames of another version, of a kind or with flags that we do not know: skipped whole.
    std::uint64_t unknownFrames() const { return m_unknown; }
    /// Set when a frame of another protocol version was met.
    std::optional<std::uint8_t> otherVersion() const { return m_otherVersion; }
    /// Bytes that wait for the rest of their frame.
    std::size_t pendingBytes() const { return m_buffer.size() - m_at; }

private:
    bool skipToMagic();

    std::string m_buffer;
    std::size_t m_at = 0;
    bool m_ended = false;
    std::uint64_t m_taken = 0;  ///< bytes that came
    std::uint64_t m_inVain = 0; ///< bytes that were checked and were no frame
    std::uint64_t m_skipped = 0;
    std::uint64_t m_unknown = 0;
    std::optional<std::uint8_t> m_otherVersion;
};

} // namespace shardscope::trace
