// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/model/dtype.h"

#include <array>

namespace shardscope::model {
namespace {

struct Row {
    DType type;
    std::string_view name;
    std::int32_t ggmlNumber;
    std::int64_t elements, bytes;
};

constexpr std::array<Row, 7> kRows{{
    {DType::F32, "f32", 0, 1, 4},
    {DType::F16, "f16", 1, 1, 2},
    {DType::Q8_0, "q8_0", 8, 32, 34},
    {DType::Q4_0, "q4_0", 2, 32, 18},
    {DType::Q4_1, "q4_1", 3, 32, 20},
    {DType::Q5_0, "q5_0", 6, 32, 22},
    {DType::Q5_1, "q5_1", 7, 32, 24},
}};

const Row& row(DType type) {
    return kRows[static_cast<std::size_t>(type)];
}

} // namespace

std::string_view dtypeName(DType type) {
    return row(type).name;
}

std::optional<DType> dtypeByName(std::string_view name) {
    for (const Row& r : kRows)
        if (r.name == name)
            return r.type;
    return std::nullopt;
}

std::optional<DType> dtypeByGgmlNumber(std::int32_t number) {
    for (const Row& r : kRows)
        if (r.ggmlNumber == number)
            return r.type;
    return std::nullopt;
}

std::int32_t ggmlNumber(DType type) {
    return row(type).ggmlNumber;
}

std::int64_t blockElements(DType type) {
    return row(type).elements;
}

std::int64_t blockBytes(DType type) {
    return row(type).bytes;
}

base::Bytes rowBytes(DType type, std::int64_t elements) {
    return base::Bytes(elements / row(type).elements * row(type).bytes);
}

} // namespace shardscope::model
