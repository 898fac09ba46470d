// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/text_stream.h"

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
    for (const trace::Event& e : events)
        if (e.kind == trace::EventKind::Token) {
            const auto id = static_cast<tokenizer::Token>(e.id);
            m_text += m_vocabulary.textOf({&id, 1});
        }
    const std::size_t complete = m_told + completeUtf8(std::string_view(m_text).substr(m_told));
    if (complete > m_told && m_append)
        m_append(m_text.substr(m_told, complete - m_told));
    m_told = complete;
}

} // namespace shardscope::agent
