// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

#include "device_agent/agent/event_collector.h"
#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::agent {

/// Turns the tokens of a run into text as they come. Bytes of a character that is not complete wait
/// for the next token.
class TextStream final : public EventSink {
public:
    using Append = std::function<void(const std::string&)>;

    /// `append` (may be empty) is told each new piece. The vocabulary must outlive the stream.
    TextStream(const tokenizer::Vocabulary& vocabulary, Append append)
        : m_vocabulary(vocabulary), m_append(std::move(append)) {}

    void take(std::span<const trace::Event> events) override;
    const std::string& text() const { return m_text; }

private:
    const tokenizer::Vocabulary& m_vocabulary;
    Append m_append;
    std::string m_text;
    std::size_t m_told = 0; ///< bytes of m_text that were told
};

/// Length of the longest part of `text` that ends with a complete UTF-8 character (or with bytes
/// that cannot become one).
std::size_t completeUtf8(std::string_view text);

} // namespace shardscope::agent
