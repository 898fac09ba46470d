// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/model_card.h"

namespace shardscope::model {

std::int64_t TensorInfo::rows() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
        n *= shape[i];
    return n;
}

std::int64_t ModelCard::hparam(std::string_view key) const {
    for (const auto& [name, value] : hparams)
        if (name == key)
            return value;
    return 0;
}

base::TensorId ModelCard::find(std::string_view tensorName) const {
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (tensors[i].name == tensorName)
            return base::TensorId(i);
    return {};
}

const Section* ModelCard::section(std::string_view key) const {
    for (const Section& s : sections)
        if (s.name == key)
            return &s;
    return nullptr;
}

base::Bytes ModelCard::weightBytes() const {
    base::Bytes sum;
    for (const TensorInfo& t : tensors)
        sum += t.bytes;
    return sum;
}

} // namespace shardscope::model
