// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/ggml_whisper_file.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "sim_engine/base/bytes.h"
#include "sim_engine/base/format.h"
#include "sim_engine/model/file_bytes.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::model {
namespace {

using base::Bytes;
using base::Error;
using base::Result;
using base::Status;

constexpr std::uint32_t kMagic = 0x67676d6c;
constexpr std::array<const char*, 11> kHparams{
    "n_vocab",      "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
    "n_text_state", "n_text_head", "n_text_layer",  "n_mels",       "ftype"};
constexpr std::int32_t kMelBins = 201;
constexpr std::uint32_t kLongestToken = 1024;

/// Reads the file front to back; every step checks what it read.
class Reader {
public:
    Reader(const FileBytes& file, ModelCard& card) : m_file(file), m_card(card) {}

    Status read() {
        for (auto step :
             {&Reader::readHparams, &Reader::readFilters, &Reader::readVocabulary,
              &Reader::readTensors}) {
            if (Status status = (this->*step)(); !status)
                return status;
        }
        return {};
    }

private:
    template <typename T>
    Result<T> next() {
        T value;
        if (Status status = m_file.read(m_at, &value, Bytes(sizeof value)); !status)
            return status.error();
        m_at += Bytes(sizeof value);
        return value;
    }
    Error malformed(std::string what) const { return m_file.malformed(m_at, std::move(what)); }

    Status readHparams();
    Status readFilters();
    Status readVocabulary();
    Status readTensors();
    Status readTensor(const std::unordered_map<std::string, std::size_t>& expectedIndex);
    Status checkShape(const TensorInfo& found, const TensorInfo& expected) const;

    const FileBytes& m_file;
    ModelCard& m_card;
    Bytes m_at;
    std::vector<TensorInfo> m_expected;
    std::vector<bool> m_seen;
};

Status Reader::readHparams() {
    auto magic = next<std::uint32_t>();
    if (!magic)
        return magic.error();
    if (*magic != kMagic) {
        m_at = Bytes(0);
        return malformed("this is not a ggml Whisper model (wrong magic)");
    }
    for (const char* name : kHparams) {
        auto value = next<std::int32_t>();
        if (!value)
            return value.error();
        m_card.hparams.emplace_back(name, *value);
    }
    m_at = Bytes(4);
    if (const auto why = implausible(whisperShape(m_card)); !why.empty())
        return malformed(std::string(why));
    const std::int64_t ftype = m_card.hparam("ftype");
    constexpr std::array<std::int64_t, 7> kKnown{0, 1, 2, 3, 7, 8, 9};
    if (ftype < 0 || std::find(kKnown.begin(), kKnown.end(), ftype % 1000) == kKnown.end())
        return malformed(
            base::formatted("unknown weight type (ftype %d)", static_cast<int>(ftype)));
    m_at = Bytes(4 + 4 * static_cast<std::int64_t>(kHparams.size()));
    return {};
}

Status Reader::readFilters() {
    auto mels = next<std::int32_t>(), bins = next<std::int32_t>();
    if (!mels || !bins)
        return mels ? bins.error() : mels.error();
    if (*mels != m_card.hparam("n_mels") || *bins != kMelBins)
        return malformed(base::formatted("mel filters of %d x %d", *mels, *bins));
    const Bytes bytes(static_cast<std::int64_t>(*mels) * *bins * 4);
    if (bytes > m_file.size() - m_at)
        return malformed("the file ends within the mel filters");
    m_card.sections.push_back({"mel_filters", m_at, bytes});
    m_at += bytes;
    return {};
}

Status Reader::readVocabulary() {
    const Bytes begin = m_at;
    auto count = next<std::int32_t>();
    if (!count)
        return count.error();
    // Each entry takes 4 bytes at least, so a count beyond the rest of the file is a lie.
    if (*count < 1 || *count > m_card.hparam("n_vocab") ||
        Bytes(std::int64_t{4} * *count) > m_file.size() - m_at)
        return malformed(base::formatted("a vocabulary of %d words", *count));
    // Read in pieces: a system call for each of 50,000 words would take longer than all the rest.
    std::vector<char> piece(1 << 16);
    std::size_t have = 0, at = 0;
    for (std::int32_t i = 0; i < *count; ++i) {
        if (have - at < sizeof(std::uint32_t) + kLongestToken) {
            const Bytes left = m_file.size() - m_at;
            have = std::min(piece.size(), left.size());
            at = 0;
            if (Status status = m_file.read(m_at, piece.data(), Bytes(std::int64_t(have))); !status)
                return status;
        }
        if (have - at < sizeof(std::uint32_t))
            return malformed("the file ends within the vocabulary");
        const auto length = base::loadAs<std::uint32_t>(piece.data() + at);
        if (length > kLongestToken || length > have - at - sizeof length)
            return malformed(base::formatted("word %d of %u bytes", i, length));
        at += sizeof length + length;
        m_at += Bytes(std::int64_t(sizeof length) + length);
    }
    m_card.sections.push_back({"vocabulary", begin, m_at - begin});
    return {};
}

Status Reader::readTensors() {
    const DType matrix = m_card.hparam("ftype") % 1000 == 0 ? DType::F32 : DType::F16;
    m_expected = whisperTensors(whisperShape(m_card), matrix);
    m_seen.assign(m_expected.size(), false);
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < m_expected.size(); ++i)
        index.emplace(m_expected[i].name, i);
    while (m_at < m_file.size())
        if (Status status = readTensor(index); !status)
            return status;
    const auto missing = std::find(m_seen.begin(), m_seen.end(), false);
    if (missing != m_seen.end())
        return malformed(
            "the file ends before tensor " +
            m_expected[static_cast<std::size_t>(missing - m_seen.begin())].name);
    return {};
}

Status Reader::readTensor(const std::unordered_map<std::string, std::size_t>& expectedIndex) {
    auto dims = next<std::int32_t>(), nameLength = next<std::int32_t>(),
         type = next<std::int32_t>();
    for (const auto* field : {&dims, &nameLength, &type})
        if (!*field)
            return field->error();
    if (*dims < 1 || *dims > 4 || *nameLength < 1 || *nameLength > 128)
        return malformed(
            base::formatted("a tensor of %d dimensions, name of %d", *dims, *nameLength));
    const auto dtype = dtypeByGgmlNumber(*type);
    if (!dtype)
        return malformed(base::formatted("unknown tensor type %d", *type));
    TensorInfo found;
    found.dtype = *dtype;
    for (std::int32_t i = 0; i < *dims; ++i) {
        auto extent = next<std::int32_t>();
        if (!extent)
            return extent.error();
        found.shape.insert(found.shape.begin(), *extent);
    }
    found.name.resize(static_cast<std::size_t>(*nameLength));
    if (Status status = m_file.read(m_at, found.name.data(), Bytes(*nameLength)); !status)
        return status;
    const auto known = expectedIndex.find(found.name);
    if (known == expectedIndex.end())
        return malformed("a tensor that a Whisper model of this size does not have");
    if (m_seen[known->second])
        return malformed("tensor " + found.name + " stands twice");
    if (Status status = checkShape(found, m_expected[known->second]); !status)
        return status;
    m_seen[known->second] = true;
    m_at += Bytes(*nameLength);
    found.offset = m_at;
    found.bytes = found.bytesPerRow() * found.rows(); // no overflow: the shape is the expected one
    if (found.bytes > m_file.size() - m_at)
        return malformed("the file ends within tensor " + found.name);
    m_at += found.bytes;
    m_card.tensors.push_back(std::move(found));
    return {};
}

Status Reader::checkShape(const TensorInfo& found, const TensorInfo& expected) const {
    if (found.shape != expected.shape)
        return malformed("tensor " + found.name + " has another shape than the header says");
    const bool isVector = expected.shape.size() == 1 || expected.shape.back() == 1 ||
                          expected.name.ends_with("positional_embedding");
    if (isVector && found.dtype != DType::F32)
        return malformed("tensor " + found.name + " is not f32");
    if (found.rowElements() % blockElements(found.dtype) != 0)
        return malformed("tensor " + found.name + " has rows that are no whole blocks");
    return {};
}

} // namespace

Result<ModelCard> readGgmlWhisper(const std::string& path) {
    auto file = FileBytes::open(path);
    if (!file)
        return file.error();
    ModelCard card;
    card.family = kWhisperFamily;
    card.name = path.substr(path.find_last_of('/') + 1);
    card.fileBytes = file->size();
    if (Status status = Reader(*file, card).read(); !status)
        return status.error();
    return card;
}

} // namespace shardscope::model
