// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/text_stream.h"

#include <algorithm>

namespace shardscope::agent {

std::size_t completeUtf8(std::string_view text) {
    constexpr std::size_t kLongest = 4;
    for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0) == 0x80)
            continue; // inside a character
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return length > back ? text.size() - back : text.size();
    }
    return text.size();
}

void TextStream::take(std::span<const trace::Event> events) {
    using trace::EventKind;
    for (const trace::Event& e : events) {
        if (e.kind == EventKind::Token) {
            add(e);
        } else if (e.kind == EventKind::Window && m_decoding) {
            finishBefore(e.id); // the windows of a batch begin before any of them is decoded
            m_decoding = false;
        } else if (e.kind == EventKind::RunEnd) {
            finishBefore(m_windows.size());
        }
    }
    if (m_telling < m_windows.size())
        tell(m_told + completeUtf8(std::string_view(m_windows[m_telling].text).substr(m_told)));
}

void TextStream::add(const trace::Event& token) {
    m_decoding = true;
    const auto window = static_cast<std::size_t>(token.b);
    if (window >= m_windows.size())
        m_windows.resize(window + 1);
    const auto id = static_cast<tokenizer::Token>(token.id);
    m_windows[window].tokens.push_back(id);
    m_windows[window].text += m_vocabulary.textOf({&id, 1});
}

void TextStream::tell(std::size_t end) {
    if (end > m_told && m_append)
        m_append(m_windows[m_telling].text.substr(m_told, end - m_told));
    m_told = end;
}

void TextStream::finishBefore(std::size_t next) {
    for (; m_telling < std::min(next, m_windows.size()); ++m_telling, m_told = 0)
        tell(m_windows[m_telling].text.size());
}

std::string TextStream::text() const {
    std::string text;
    for (const Window& window : m_windows)
        text += window.text;
    return text;
}

std::vector<tokenizer::Segment> TextStream::segments(std::int64_t audioMs) const {
    constexpr std::int64_t kWindowMs = 30'000;
    std::vector<tokenizer::Segment> all;
    for (std::size_t i = 0; i < m_windows.size(); ++i) {
        const std::int64_t begin = static_cast<std::int64_t>(i) * kWindowMs;
        const auto part = tokenizer::segmentsOf(
            m_vocabulary, m_windows[i].tokens, begin, std::min(begin + kWindowMs, audioMs));
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

} // namespace shardscope::agent
