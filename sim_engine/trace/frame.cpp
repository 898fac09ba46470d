// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/trace/frame.h"

#include <array>
#include <cstring>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/crc32c.h"

namespace shardscope::trace {
namespace {

using base::loadAs;
using base::storeAs;

constexpr std::size_t kVersionAt = 4, kKindAt = 5, kFlagsAt = 6, kLengthAt = 8, kCrcAt = 12,
                      kSequenceAt = 16;
constexpr std::string_view kMagicText("SSF1", 4);
/// Bytes that may be checked in vain, beside four for each byte that comes.
constexpr std::uint64_t kPatience = 64u << 20;

std::uint32_t checksum(const char* header, std::string_view payload) {
    std::array<char, kFrameHeaderBytes> copy;
    std::memcpy(copy.data(), header, copy.size());
    storeAs<std::uint32_t>(copy.data() + kCrcAt, 0);
    return base::crc32c(payload.data(), payload.size(), base::crc32c(copy.data(), copy.size()));
}

} // namespace

void appendFrame(
    std::string& out, FrameKind kind, std::uint64_t sequence, std::string_view payload) {
    std::array<char, kFrameHeaderBytes> header{};
    storeAs(header.data(), kFrameMagic);
    storeAs(header.data() + kVersionAt, kFrameVersion);
    storeAs(header.data() + kKindAt, kind);
    storeAs<std::uint16_t>(header.data() + kFlagsAt, 0);
    storeAs(header.data() + kLengthAt, static_cast<std::uint32_t>(payload.size()));
    storeAs(header.data() + kSequenceAt, sequence);
    storeAs(header.data() + kCrcAt, checksum(header.data(), payload));
    out.append(header.data(), header.size());
    out.append(payload);
}

void appendControl(std::string& out, std::uint64_t sequence, std::string_view json) {
    appendFrame(out, FrameKind::Control, sequence, json);
}

void appendEvents(std::string& out, std::uint64_t firstSequence, std::span<const Event> events) {
    appendFrame(
        out, FrameKind::Events, firstSequence,
        {reinterpret_cast<const char*>(events.data()), events.size_bytes()});
}

Event Frame::event(std::size_t i) const {
    return loadAs<Event>(payload.data() + i * sizeof(Event));
}

void FrameReader::push(std::string_view bytes) {
    if (m_at > 0) {
        m_buffer.erase(0, m_at);
        m_at = 0;
    }
    m_buffer.append(bytes);
    m_taken += bytes.size();
}

bool FrameReader::skipToMagic() {
    const std::size_t found = m_buffer.find(kMagicText, m_at);
    if (found != std::string::npos) {
        m_skipped += found - m_at;
        m_at = found;
        return true;
    }
    // A magic may be cut by the end of what we have: keep its last three bytes.
    const std::size_t keep = kMagicText.size() - 1;
    if (m_buffer.size() - m_at > keep) {
        m_skipped += m_buffer.size() - keep - m_at;
        m_at = m_buffer.size() - keep;
    }
    return false;
}

std::optional<Frame> FrameReader::next() {
    while (skipToMagic()) {
        const std::size_t have = m_buffer.size() - m_at;
        const char* header = m_buffer.data() + m_at;
        const std::size_t length =
            have < kFrameHeaderBytes ? 0 : loadAs<std::uint32_t>(header + kLengthAt);
        const bool isWhole = have >= kFrameHeaderBytes + length;
        if (!isWhole && length <= kLargestPayload && !m_ended)
            return std::nullopt;
        const bool canBe = isWhole && length <= kLargestPayload;
        const std::string_view payload =
            canBe ? std::string_view(header + kFrameHeaderBytes, length) : std::string_view();
        if (!canBe || checksum(header, payload) != loadAs<std::uint32_t>(header + kCrcAt)) {
            // Not a frame: look for the next magic behind this one. Who sends false headers by the
            // thousand, each claiming all the others, would have us check for hours: then we
            // believe the length.
            m_inVain += payload.size();
            const bool believes = canBe && m_inVain > kPatience + 4 * m_taken;
            const std::size_t step = believes ? kFrameHeaderBytes + length : 1;
            m_at += step;
            m_skipped += step;
            continue;
        }
        m_at += kFrameHeaderBytes + length;
        const auto version = loadAs<std::uint8_t>(header + kVersionAt);
        const auto kind = static_cast<FrameKind>(header[kKindAt]);
        const bool known = (kind == FrameKind::Control || kind == FrameKind::Events) &&
                           loadAs<std::uint16_t>(header + kFlagsAt) == 0;
        if (version != kFrameVersion)
            m_otherVersion = version;
        if (version != kFrameVersion || !known ||
            (kind == FrameKind::Events && length % sizeof(Event) != 0)) {
            ++m_unknown;
            continue;
        }
        return Frame{kind, loadAs<std::uint64_t>(header + kSequenceAt), payload};
    }
    return std::nullopt;
}

} // namespace shardscope::trace
