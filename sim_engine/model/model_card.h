// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim_engine/base/units.h"
#include "sim_engine/model/dtype.h"

namespace shardscope::model {

/// One tensor of a model file. `shape` is row-major, outermost first; a row is the innermost
/// extent.
struct TensorInfo {
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    base::Bytes offset; ///< of the first element, from the start of the file
    base::Bytes bytes;

    std::int64_t rows() const;
    std::int64_t rowElements() const { return shape.empty() ? 0 : shape.back(); }
    base::Bytes bytesPerRow() const { return rowBytes(dtype, rowElements()); }
};

/// A part of the header that the engine reads by itself: "mel_filters", "vocabulary".
struct Section {
    std::string name;
    base::Bytes offset;
    base::Bytes bytes;
};

/// What a model is, without its weights: read from the header of a file, or built in.
struct ModelCard {
    std::string name;   ///< the file's name, or "card:whisper-tiny"
    std::string family; ///< "whisper"
    base::Bytes fileBytes;
    std::vector<std::pair<std::string, std::int64_t>> hparams; ///< in the order of the file
    std::vector<Section> sections;
    std::vector<TensorInfo> tensors; ///< in the order of the file

    /// The value of a hyper-parameter, 0 where the model has none of that name.
    std::int64_t hparam(std::string_view key) const;
    /// The tensor of that name; an invalid id where there is none.
    base::TensorId find(std::string_view tensor) const;
    const TensorInfo& tensor(base::TensorId id) const { return tensors[id.index()]; }
    const Section* section(std::string_view key) const;
    /// Bytes of all tensors.
    base::Bytes weightBytes() const;
};

} // namespace shardscope::model
