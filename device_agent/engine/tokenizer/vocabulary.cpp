// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <utility>

#include "device_agent/engine/tokenizer/languages.h"
#include "sim_engine/base/bytes.h"
#include "sim_engine/base/format.h"

namespace shardscope::tokenizer {

namespace {

constexpr int kEnglishTokens = 51864;
constexpr int kMostTokens = 51866;

/// The special ids, as the original tokenizer assigns them: the text tokens, end of text, start of
/// transcript, the languages, six tasks and marks, 1501 timestamps. English-only models keep the
/// ids of 99 languages and have one text token less.
SpecialTokens specialTokens(int modelTokens) {
    const bool english = modelTokens == kEnglishTokens;
    const int languages = english ? 99 : modelTokens - 51766;
    SpecialTokens s;
    s.eot = english ? 50256 : 50257;
    s.sot = s.eot + 1;
    s.firstLanguage = s.sot + 1;
    s.translate = s.firstLanguage + languages;
    s.transcribe = s.translate + 1;
    s.solm = s.translate + 2;
    s.prev = s.translate + 3;
    s.nosp = s.translate + 4;
    s.noTimestamps = s.translate + 5;
    s.firstTimestamp = s.translate + 6;
    return s;
}

base::Error badVocabulary(std::string what, const std::string& path, std::uint64_t offset) {
    return {
        base::ErrorCode::BadInput, std::move(what), path + " at byte " + std::to_string(offset),
        "the file is damaged or no ggml Whisper model: fetch it again"};
}

} // namespace

base::Result<Vocabulary> Vocabulary::read(
    std::span<const std::byte> bytes, int modelTokens, const std::string& path,
    std::uint64_t offset) {
    if (modelTokens < kEnglishTokens || modelTokens > kMostTokens)
        return badVocabulary(
            base::formatted("a vocabulary of %d tokens is not Whisper's", modelTokens), path,
            offset);
    if (bytes.size() < 4)
        return badVocabulary("the file ends where its vocabulary should be", path, offset);
    const auto count = base::loadAs<std::uint32_t>(bytes.data());
    // Each token takes four bytes at least, so the second check bounds what is allocated.
    if (count > static_cast<std::uint32_t>(modelTokens) || count > (bytes.size() - 4) / 4)
        return badVocabulary(
            base::formatted("the vocabulary claims %u tokens", count), path, offset);

    Vocabulary v;
    v.m_modelTokens = modelTokens;
    v.m_special = specialTokens(modelTokens);
    v.m_ends.reserve(count);
    std::size_t at = 4;
    std::size_t textBytes = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool hasLength = bytes.size() - at >= 4;
        const std::uint32_t length = hasLength ? base::loadAs<std::uint32_t>(&bytes[at]) : 0;
        if (!hasLength || length > bytes.size() - at - 4)
            return badVocabulary(
                base::formatted("token %u claims %u bytes, more than the file has", i, length),
                path, offset + at);
        at += 4 + length;
        textBytes += length;
    }
    if (textBytes > 0xFFFFFFFFu)
        return badVocabulary("the vocabulary is over 4 GiB", path, offset);
    v.m_bytesRead = at;
    v.m_blob.reserve(textBytes);
    for (at = 4; at < v.m_bytesRead;) {
        const auto length = base::loadAs<std::uint32_t>(&bytes[at]);
        v.m_blob.append(reinterpret_cast<const char*>(bytes.data()) + at + 4, length);
        v.m_ends.push_back(static_cast<std::uint32_t>(v.m_blob.size()));
        at += 4 + length;
    }
    return v;
}

std::size_t Vocabulary::memoryBytes() const {
    return sizeof *this + m_blob.capacity() + m_ends.capacity() * sizeof m_ends[0];
}

std::string_view Vocabulary::bytesOf(Token id) const {
    if (id < 0 || id >= listed())
        return {};
    const auto i = static_cast<std::size_t>(id);
    const std::size_t begin = i == 0 ? 0 : m_ends[i - 1];
    return std::string_view(m_blob).substr(begin, m_ends[i] - begin);
}

std::string Vocabulary::nameOf(Token id) const {
    const SpecialTokens& s = m_special;
    if (id >= s.firstTimestamp && id < m_modelTokens)
        return base::formatted("[%.2f s]", 0.02 * (id - s.firstTimestamp));
    if (id == s.eot)
        return "[eot]";
    if (id >= 0 && id < listed())
        return std::string(bytesOf(id));
    if (id == s.sot)
        return "[sot]";
    if (id >= s.firstLanguage && id < s.translate)
        return base::formatted("[%s]", languageCode(id - s.firstLanguage).data());
    static constexpr const char* kTasks[] = {"[translate]", "[transcribe]", "[speaker turn]",
                                             "[prev]",      "[no speech]",  "[no timestamps]"};
    if (id >= s.translate && id < s.firstTimestamp)
        return kTasks[id - s.translate];
    return base::formatted("[token %d]", id);
}

std::string Vocabulary::textOf(std::span<const Token> ids) const {
    std::string text;
    for (const Token id : ids)
        if (id < m_special.eot)
            text += bytesOf(id);
    return text;
}

std::optional<Token> Vocabulary::find(std::string_view bytes) const {
    for (Token id = listed() - 1; id >= 0; --id)
        if (bytesOf(id) == bytes)
            return id;
    return std::nullopt;
}

std::optional<int> Vocabulary::languageId(std::string_view code) {
    const auto at = std::find(kLanguages.begin(), kLanguages.end(), code);
    if (at == kLanguages.end())
        return std::nullopt;
    return static_cast<int>(at - kLanguages.begin());
}

std::string_view Vocabulary::languageCode(int languageId) {
    return languageId >= 0 && languageId < static_cast<int>(kLanguages.size())
               ? kLanguages[static_cast<std::size_t>(languageId)]
               : std::string_view{};
}

base::Result<std::vector<Token>>
Vocabulary::defaultPrompt(std::string_view language, bool timestamps) const {
    const auto id = languageId(language);
    if (!id || *id >= languageCount())
        return base::Error{
            base::ErrorCode::Usage,
            "this model does not know the language \"" + std::string(language) + "\"", "language",
            isMultilingual() ? "give an ISO 639 code such as en, de or zh"
                             : "English-only models take en alone"};
    std::vector<Token> prompt{m_special.sot};
    if (isMultilingual()) {
        prompt.push_back(m_special.firstLanguage + *id);
        prompt.push_back(m_special.transcribe);
    }
    if (!timestamps)
        prompt.push_back(m_special.noTimestamps);
    return prompt;
}

} // namespace shardscope::tokenizer
