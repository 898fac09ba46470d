// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/card_catalog.h"

#include <array>

#include "sim_engine/model/ggml_whisper_file.h"
#include "sim_engine/model/whisper_family.h"

namespace shardscope::model {
namespace {

constexpr std::string_view kPrefix = "card:whisper-";

struct Entry {
    std::string_view name;
    std::int64_t vocab, width, heads, encoderLayers, decoderLayers, mels;
};

/// Published sizes of the Whisper models (openai/whisper, model dimensions).
constexpr std::array<Entry, 12> kEntries{{
    {"tiny.en", 51864, 384, 6, 4, 4, 80},
    {"tiny", 51865, 384, 6, 4, 4, 80},
    {"base.en", 51864, 512, 8, 6, 6, 80},
    {"base", 51865, 512, 8, 6, 6, 80},
    {"small.en", 51864, 768, 12, 12, 12, 80},
    {"small", 51865, 768, 12, 12, 12, 80},
    {"medium.en", 51864, 1024, 16, 24, 24, 80},
    {"medium", 51865, 1024, 16, 24, 24, 80},
    {"large", 51865, 1280, 20, 32, 32, 80},
    {"large-v2", 51865, 1280, 20, 32, 32, 80},
    {"large-v3", 51866, 1280, 20, 32, 32, 128},
    {"large-v3-turbo", 51866, 1280, 20, 32, 4, 128},
}};

ModelCard makeCard(const Entry& e) {
    ModelCard card;
    card.name = std::string(kPrefix) + std::string(e.name);
    card.family = kWhisperFamily;
    card.hparams = {
        {"n_vocab", e.vocab},
        {"n_audio_ctx", 1500},
        {"n_audio_state", e.width},
        {"n_audio_head", e.heads},
        {"n_audio_layer", e.encoderLayers},
        {"n_text_ctx", 448},
        {"n_text_state", e.width},
        {"n_text_head", e.heads},
        {"n_text_layer", e.decoderLayers},
        {"n_mels", e.mels},
        {"ftype", 1}};
    // Offsets as a converter would lay the file out; the size of the vocabulary text is typical.
    constexpr std::int64_t kFrontMatter = 586'836;
    base::Bytes at(kFrontMatter);
    card.tensors = whisperTensors(whisperShape(card), DType::F16);
    for (TensorInfo& t : card.tensors) {
        const auto header = 12 + 4 * t.shape.size() + t.name.size();
        t.offset = at + base::Bytes(static_cast<std::int64_t>(header));
        t.bytes = t.bytesPerRow() * t.rows();
        at = t.offset + t.bytes;
    }
    card.fileBytes = at;
    return card;
}

} // namespace

std::vector<std::string> catalogNames() {
    std::vector<std::string> names;
    for (const Entry& e : kEntries)
        names.push_back(std::string(kPrefix) + std::string(e.name));
    return names;
}

base::Result<ModelCard> catalogCard(std::string_view name) {
    for (const Entry& e : kEntries)
        if (name.starts_with(kPrefix) && name.substr(kPrefix.size()) == e.name)
            return makeCard(e);
    std::string known;
    for (const Entry& e : kEntries)
        known += (known.empty() ? "" : ", ") + std::string(e.name);
    return base::Error{
        base::ErrorCode::Usage, "no built-in card of this name", std::string(name),
        "there are card:whisper- " + known};
}

base::Result<ModelCard> loadCard(const std::string& model) {
    return model.starts_with("card:") ? catalogCard(model) : readGgmlWhisper(model);
}

} // namespace shardscope::model
