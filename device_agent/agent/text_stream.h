// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device_agent/agent/event_collector.h"
#include "device_agent/engine/tokenizer/segments.h"
#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::agent {

/// Turns the tokens of a run into text as they come. Bytes of a character that is not complete wait
/// for the next token; where windows are decoded together, the text of one waits until those before
/// it are over.
class TextStream final : public EventSink {
public:
    using Append = std::function<void(const std::string&)>;

    /// `append` (may be empty) is told each new piece. The vocabulary must outlive the stream.
    TextStream(const tokenizer::Vocabulary& vocabulary, Append append)
        : m_vocabulary(vocabulary), m_append(std::move(append)) {}

    void take(std::span<const trace::Event> events) override;

    /// All so far, window after window.
    std::string text() const;
    /// The same in pieces with their times, for a recording of this length. Windows follow each
    /// other every 30 s.
    std::vector<tokenizer::Segment> segments(std::int64_t audioMs) const;

private:
    struct Window {
        std::vector<tokenizer::Token> tokens;
        std::string text;
    };
    void add(const trace::Event& token);
    void tell(std::size_t end);
    /// Windows before `next` are over.
    void finishBefore(std::size_t next);

    const tokenizer::Vocabulary& m_vocabulary;
    Append m_append;
    std::vector<Window> m_windows;
    std::size_t m_telling = 0; ///< the window whose text is told as it comes
    std::size_t m_told = 0;    ///< bytes of it that were told
    bool m_decoding = false;   ///< tokens came since the last window began
};

/// Length of the longest part of `text` that ends with a complete UTF-8 character (or with bytes
/// that cannot become one).
std::size_t completeUtf8(std::string_view text);

} // namespace shardscope::agent
