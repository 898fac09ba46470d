// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/card_json.h"

#include <nlohmann/json.hpp>

namespace shardscope::model {

using Json = nlohmann::ordered_json;
using base::Bytes;

Json toJson(const ModelCard& card) {
    Json hparams = Json::object(), sections = Json::array(), tensors = Json::array();
    for (const auto& [key, value] : card.hparams)
        hparams[key] = value;
    for (const Section& s : card.sections)
        sections.push_back(
            {{"name", s.name}, {"offset", s.offset.value}, {"bytes", s.bytes.value}});
    for (const TensorInfo& t : card.tensors)
        tensors.push_back(
            {{"name", t.name},
             {"dtype", dtypeName(t.dtype)},
             {"shape", t.shape},
             {"offset", t.offset.value},
             {"bytes", t.bytes.value}});
    return {
        {"name", card.name},
        {"family", card.family},
        {"file_bytes", card.fileBytes.value},
        {"hparams", std::move(hparams)},
        {"sections", std::move(sections)},
        {"tensors", std::move(tensors)}};
}

namespace {

[[noreturn]] void refuse(const std::string& what, const Json& where) {
    throw Json::other_error::create(501, what, &where);
}

/// A piece of the file: its numbers are what reads are made of.
void checkPiece(const ModelCard& card, Bytes offset, Bytes bytes, const Json& where) {
    if (offset.value < 0 || bytes.value < 0 || bytes > card.fileBytes ||
        offset > card.fileBytes - bytes)
        refuse("a piece that does not lie in the file", where);
}

/// The bytes of a tensor are those of its shape, computed without overflow.
void checkTensor(const ModelCard& card, const TensorInfo& t, const Json& where) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : t.shape) {
        if (extent < 1 || extent > card.fileBytes.value ||
            elements > 8 * card.fileBytes.value / extent)
            refuse("an impossible shape", where);
        elements *= extent;
    }
    if (t.shape.empty() || t.rowElements() % blockElements(t.dtype) != 0 ||
        t.bytes != t.bytesPerRow() * t.rows())
        refuse("bytes that are not those of the shape", where);
    checkPiece(card, t.offset, t.bytes, where);
}

/// Throws nlohmann's exceptions, which cardFromJson turns into an Error.
ModelCard parse(const Json& document) {
    ModelCard card;
    card.name = document.at("name").get<std::string>();
    card.family = document.at("family").get<std::string>();
    card.fileBytes = Bytes(document.at("file_bytes").get<std::int64_t>());
    constexpr std::int64_t kLargestFile = std::int64_t{1} << 50;
    if (card.fileBytes.value < 0 || card.fileBytes.value > kLargestFile)
        refuse("an impossible size of the file", document);
    for (const auto& [key, value] : document.at("hparams").items())
        card.hparams.emplace_back(key, value.get<std::int64_t>());
    for (const Json& s : document.at("sections")) {
        card.sections.push_back(
            {s.at("name").get<std::string>(), Bytes(s.at("offset").get<std::int64_t>()),
             Bytes(s.at("bytes").get<std::int64_t>())});
        checkPiece(card, card.sections.back().offset, card.sections.back().bytes, s);
    }
    for (const Json& t : document.at("tensors")) {
        const auto dtype = dtypeByName(t.at("dtype").get<std::string>());
        if (!dtype)
            refuse("unknown dtype", t);
        card.tensors.push_back(
            {t.at("name").get<std::string>(), *dtype,
             t.at("shape").get<std::vector<std::int64_t>>(),
             Bytes(t.at("offset").get<std::int64_t>()), Bytes(t.at("bytes").get<std::int64_t>())});
        checkTensor(card, card.tensors.back(), t);
    }
    return card;
}

} // namespace

base::Result<ModelCard> cardFromJson(const Json& document) {
    try {
        return parse(document);
    } catch (const Json::exception& e) {
        return base::Error{
            base::ErrorCode::BadInput, e.what(), "model card", "record the run again"};
    }
}

} // namespace shardscope::model
