// SPDX-License-Identifier: GPL-3.0-or-later
// The vocabulary of an English Whisper model of which two tokens have a text: "a" and " ".
#pragma once

#include <QTest>

#include <span>

#include "device_agent/engine/tokenizer/suppression.h"
#include "device_agent/engine/tokenizer/vocabulary.h"

namespace shardscope::test {

inline constexpr tokenizer::Token kA = 0, kSpace = 1, kEot = 50256, kSot = 50257, kTime0 = 50363,
                                  kSize = 51864;

inline const tokenizer::Vocabulary& vocabulary() {
    static const tokenizer::Vocabulary v = [] {
        static const char kList[] = "\x02\0\0\0\x01\0\0\0a\x01\0\0\0 ";
        auto read = tokenizer::Vocabulary::read(
            std::as_bytes(std::span(kList, sizeof kList - 1)), kSize, "", 0);
        if (!read)
            qFatal("%s", read.error().line().c_str());
        return std::move(read).value();
    }();
    return v;
}

inline const tokenizer::Suppression& suppression() {
    static const tokenizer::Suppression s = tokenizer::defaultSuppression(vocabulary());
    return s;
}

} // namespace shardscope::test
