// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "device_agent/engine/tokenizer/languages.h"
#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::tokenizer {

struct DetectedLanguage {
    int id = 0;             ///< see Vocabulary::languageCode
    double probability = 0; ///< among the languages of the model
};

/// Which language is spoken: the best language token after the start of transcript alone. Takes the
/// logits in vocabulary shards. Thread-compatible; allocates nothing.
class LanguageVote {
public:
    explicit LanguageVote(const Vocabulary& vocabulary);

    /// Logits of ids `first` to `first + count - 1`; all but those of languages are passed over.
    void take(const float* logits, std::size_t count, Token first);

    /// None where no language got a number.
    std::optional<DetectedLanguage> result() const;

private:
    Token m_first;
    Token m_end;
    std::array<float, kLanguages.size()> m_logits;
};

} // namespace shardscope::tokenizer
