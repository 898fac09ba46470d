// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/result.h"

namespace shardscope::tokenizer {

using Token = std::int32_t; ///< a row of the token embedding

/// Ids that mean something to the decoder. Text tokens are all below `eot`.
struct SpecialTokens {
    Token eot = 0;           ///< end of text
    Token sot = 0;           ///< start of transcript
    Token firstLanguage = 0; ///< sot + 1, "en"
    Token translate = 0;
    Token transcribe = 0;
    Token solm = 0; ///< speaker turn, in models trained for it
    Token prev = 0; ///< text of the window before follows
    Token nosp = 0; ///< no speech
    Token noTimestamps = 0;
    Token firstTimestamp = 0; ///< 0.00 s; 0.02 s more for each id after it
};

/// Where the language stands in the prompt of a multilingual model.
inline constexpr std::size_t kPromptLanguage = 1;

/// The token list of a ggml Whisper file. Thread-safe once read.
class Vocabulary {
public:
    /// Reads u32 count, then for each token u32 length and its bytes, from the start of `bytes`.
    /// `modelTokens` is n_vocab of the file's header, which decides the special ids: 51864
    /// (English), 51865 or 51866 (multilingual, 99 or 100 languages). `path` and `offset` (of
    /// bytes[0] in the file) serve the messages.
    /// Errors: BadInput for another n_vocab, more tokens than n_vocab, and any count or length that
    /// does not fit the bytes.
    static base::Result<Vocabulary> read(
        std::span<const std::byte> bytes, int modelTokens, const std::string& path,
        std::uint64_t offset);

    int size() const { return m_modelTokens; }
    int listed() const { return static_cast<int>(m_ends.size()); } ///< tokens the file spells out
    std::size_t bytesRead() const { return m_bytesRead; }          ///< taken from `bytes`
    std::size_t memoryBytes() const;

    bool isMultilingual() const { return m_modelTokens > 51864; }
    int languageCount() const { return isMultilingual() ? m_modelTokens - 51766 : 1; }
    const SpecialTokens& special() const { return m_special; }

    /// The bytes of a listed token (not always whole UTF-8 characters); empty for others.
    std::string_view bytesOf(Token id) const;

    /// For people: the bytes of a listed token, or a name in brackets such as "[sot]" and
    /// "[1.50 s]".
    std::string nameOf(Token id) const;

    /// The joined bytes of the text tokens among `ids`; specials add nothing.
    std::string textOf(std::span<const Token> ids) const;

    /// The id whose bytes are exactly `bytes`; the last one if there are several.
    std::optional<Token> find(std::string_view bytes) const;

    /// "en" -> 0, in the order of the language tokens; none for a code Whisper does not know.
    static std::optional<int> languageId(std::string_view code);
    static std::string_view languageCode(int languageId);

    /// What a window begins with: [sot] for English-only models (and then only "en" is allowed),
    /// otherwise [sot, language, transcribe]; without timestamps also noTimestamps.
    /// Errors: Usage for a language the model does not have.
    base::Result<std::vector<Token>>
    defaultPrompt(std::string_view language, bool timestamps = false) const;

private:
    Vocabulary() = default;

    int m_modelTokens = 0;
    std::size_t m_bytesRead = 0;
    SpecialTokens m_special;
    std::string m_blob;                ///< all tokens' bytes, one after the other
    std::vector<std::uint32_t> m_ends; ///< where each ends in m_blob
};

} // namespace shardscope::tokenizer
