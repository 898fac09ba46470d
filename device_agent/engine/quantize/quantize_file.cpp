// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/quantize/quantize_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/stat.h>
#include <vector>

#include "device_agent/engine/quantize/output_file.h"
#include "device_agent/engine/quantize/quantize_row.h"
#include "sim_engine/base/bytes.h"
#include "sim_engine/base/half.h"
#include "sim_engine/model/file_bytes.h"
#include "sim_engine/model/ggml_whisper_file.h"

namespace shardscope::engine {
namespace {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using model::DType;
using model::TensorInfo;

constexpr Bytes kPiece = base::kibibytes(512);
constexpr Bytes kFtypeAt(4 + 4 * 10); ///< the last of eleven hyper-parameters

/// ggml's number for a file of mostly this type, with the version of the block formats.
std::int32_t ftypeOf(DType type) {
    constexpr std::int32_t kVersion = 2, kVersionFactor = 1000;
    switch (type) {
    case DType::Q4_0:
        return kVersion * kVersionFactor + 2;
    case DType::Q4_1:
        return kVersion * kVersionFactor + 3;
    case DType::Q8_0:
        return kVersion * kVersionFactor + 7;
    case DType::Q5_0:
        return kVersion * kVersionFactor + 8;
    case DType::Q5_1:
        return kVersion * kVersionFactor + 9;
    case DType::F32:
    case DType::F16:
        break;
    }
    return -1;
}

bool isSameFile(const std::string& a, const std::string& b) {
    struct stat one {
    }, other{};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Copies and quantises front to back.
class Quantizer {
public:
    Quantizer(
        const model::FileBytes& in, OutputFile& out, DType type,
        const std::function<bool(Bytes, Bytes)>& progress)
        : m_in(in), m_out(out), m_type(type), m_progress(progress) {}

    /// All that stands before the first tensor, with the new type in it.
    Status header(Bytes bytes) {
        if (Status status = copy(Bytes(0), kFtypeAt); !status)
            return status;
        const std::int32_t ftype = ftypeOf(m_type);
        if (Status status = m_out.write(&ftype, sizeof ftype); !status)
            return status;
        const Bytes behind = kFtypeAt + Bytes(sizeof ftype);
        return copy(behind, bytes - behind);
    }

    Status tensor(const TensorInfo& t) {
        const bool quantized = isQuantizable(t);
        if (Status status = record(t, quantized ? m_type : t.dtype); !status)
            return status;
        return quantized ? rows(t) : copy(t.offset, t.bytes);
    }

private:
    Status record(const TensorInfo& t, DType type) {
        std::vector<std::int32_t> words{
            static_cast<std::int32_t>(t.shape.size()), static_cast<std::int32_t>(t.name.size()),
            model::ggmlNumber(type)};
        for (auto extent = t.shape.rbegin(); extent != t.shape.rend(); ++extent)
            words.push_back(static_cast<std::int32_t>(*extent));
        if (Status status = m_out.write(words.data(), words.size() * sizeof words[0]); !status)
            return status;
        return m_out.write(t.name.data(), t.name.size());
    }

    Status copy(Bytes offset, Bytes bytes) {
        for (Bytes done; done < bytes; done += kPiece) {
            const Bytes piece = std::min(kPiece, bytes - done);
            if (Status status = read(offset + done, piece); !status)
                return status;
            if (Status status = m_out.write(m_raw.data(), piece.size()); !status)
                return status;
        }
        return {};
    }

    Status rows(const TensorInfo& t) {
        // Blocks do not know rows: any whole number of them makes a piece.
        const std::int64_t all = t.rows() * t.rowElements();
        const Bytes element = model::rowBytes(t.dtype, 1);
        const std::int64_t most = kPiece.value / element.value / 32 * 32;
        for (std::int64_t done = 0; done < all; done += most) {
            const std::int64_t count = std::min(most, all - done);
            if (Status status = read(t.offset + element * done, element * count); !status)
                return status;
            const auto n = static_cast<std::size_t>(count);
            m_floats.resize(n);
            for (std::size_t i = 0; i < n; ++i)
                m_floats[i] = t.dtype == DType::F32
                                  ? base::loadAs<float>(&m_raw[4 * i])
                                  : base::floatFromHalf(base::loadAs<std::uint16_t>(&m_raw[2 * i]));
            m_blocks.resize(model::rowBytes(m_type, count).size());
            quantizeRow(m_type, m_floats.data(), n, m_blocks.data());
            if (Status status = m_out.write(m_blocks.data(), m_blocks.size()); !status)
                return status;
        }
        return {};
    }

    Status read(Bytes offset, Bytes bytes) {
        if (!m_progress(offset, m_in.size()))
            return Error{
                ErrorCode::Failed, "interrupted", m_in.path(),
                "nothing was written; start it again"};
        m_raw.resize(kPiece.size());
        return m_in.read(offset, m_raw.data(), bytes);
    }

    const model::FileBytes& m_in;
    OutputFile& m_out;
    DType m_type;
    const std::function<bool(Bytes, Bytes)>& m_progress;
    std::vector<std::byte> m_raw, m_blocks;
    std::vector<float> m_floats;
};

Status check(const model::ModelCard& card, const std::string& path) {
    for (const TensorInfo& t : card.tensors) {
        if (t.dtype != DType::F32 && t.dtype != DType::F16)
            return Error{
                ErrorCode::BadInput,
                "is quantised already: " + t.name + " is " + std::string(model::dtypeName(t.dtype)),
                path, "give the f16 or f32 model"};
        if (isQuantizable(t) && t.rowElements() % 32 != 0)
            return Error{
                ErrorCode::BadInput, "rows of " + t.name + " are no whole blocks of 32", path,
                "this model stays as it is"};
    }
    return {};
}

} // namespace

bool isQuantizable(const TensorInfo& tensor) {
    return tensor.shape.size() == 2 && tensor.shape.back() != 1 &&
           !tensor.name.ends_with("positional_embedding");
}

Result<Quantized> quantizeFile(
    const std::string& in, const std::string& out, DType type,
    const std::function<bool(Bytes, Bytes)>& progress) {
    if (ftypeOf(type) < 0)
        return Error{
            ErrorCode::Usage, std::string(model::dtypeName(type)) + " is no type of blocks",
            "--type", "give q8_0, q5_1, q5_0, q4_1 or q4_0"};
    auto file = model::FileBytes::open(in);
    if (!file)
        return file.error();
    if (isSameFile(in, out))
        return Error{
            ErrorCode::Usage, "input and output are the same file", out, "give another name"};
    auto card = model::readGgmlWhisper(in);
    if (!card)
        return card.error();
    if (Status status = check(*card, in); !status)
        return status.error();
    auto written = OutputFile::create(out);
    if (!written)
        return written.error();
    Quantizer quantizer(*file, *written, type, progress);
    const model::Section& words = *card->section("vocabulary");
    if (Status status = quantizer.header(words.offset + words.bytes); !status)
        return status.error();
    Quantized result;
    for (const TensorInfo& t : card->tensors) {
        if (Status status = quantizer.tensor(t); !status)
            return status.error();
        ++(isQuantizable(t) ? result.tensors : result.kept);
    }
    result.bytesBefore = file->size();
    if (Status status = written->finish(); !status)
        return status.error();
    struct stat info {};
    if (::stat(out.c_str(), &info) == 0)
        result.bytesAfter = Bytes(info.st_size);
    return result;
}

} // namespace shardscope::engine
