// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/measured_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "sim_engine/plan/plan.h"

namespace shardscope::plan {

using Json = nlohmann::ordered_json;
using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::array<std::string_view, kWeightSourceCount> kSources{
    "resident", "copied", "device", "mapped", "pinned"};
constexpr std::size_t kMostEntries = 20000;
constexpr double kMost = 1e19;

std::optional<WeightSource> sourceByName(const std::string& name) {
    const auto found = std::find(kSources.begin(), kSources.end(), name);
    if (found == kSources.end())
        return std::nullopt;
    return static_cast<WeightSource>(found - kSources.begin());
}

std::optional<Loader> loaderByName(const std::string& name) {
    for (const Loader loader :
         {Loader::Auto, Loader::Mmap, Loader::Populate, Loader::Pread, Loader::Direct,
          Loader::Uring})
        if (loaderName(loader) == name)
            return loader;
    return std::nullopt;
}

/// Takes values and remembers the first that is missing or impossible.
class Taker {
public:
    double real(const Json& object, const char* key, double low, double high) {
        const auto found = object.find(key);
        const double x =
            found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
        if (std::isfinite(x) && x >= low && x <= high)
            return x;
        fail(key, "is missing or out of range");
        return low;
    }
    std::string text(const Json& object, const char* key) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_string())
            return found->get<std::string>();
        fail(key, "is missing or no text");
        return {};
    }
    /// fn(element) for each object of the list.
    template <typename Fn>
    void each(const Json& object, const char* key, Fn fn) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_array() || found->size() > kMostEntries)
            return fail(key, "is no list of a possible length");
        for (const Json& element : *found) {
            if (!element.is_object())
                return fail(key, "has an element that is no object");
            fn(element);
        }
    }
    void fail(const char* key, const char* why) {
        if (m_error.empty())
            m_error = std::string("\"measured.") + key + "\" " + why;
    }
    const std::string& error() const { return m_error; }

private:
    std::string m_error;
};

void takeOp(Taker& in, const Json& o, MeasuredCosts& costs) {
    MeasuredOp op;
    const auto kernel = kernelClassByName(in.text(o, "kernel"));
    const auto dtype = model::dtypeByName(in.text(o, "dtype"));
    const auto source = sourceByName(in.text(o, "weights"));
    op.shape.threads = static_cast<std::int32_t>(in.real(o, "threads", 1, 4096));
    op.shape.rows = static_cast<std::int32_t>(in.real(o, "rows", 1, 1e6));
    op.shape.flops = in.real(o, "flops", 0, kMost);
    op.shape.flopsPerPosition = in.real(o, "flops_per_position", 0, kMost);
    op.shape.weightBytes = in.real(o, "weight_bytes", 0, kMost);
    op.ns = in.real(o, "ns", 0, 1e15);
    op.nsPerPosition = in.real(o, "ns_per_position", 0, 1e15);
    op.residual = in.real(o, "residual", 0, 1e9);
    op.samples = static_cast<std::int64_t>(in.real(o, "samples", 0, 1e15));
    if (!kernel || !dtype || !source)
        return;
    op.shape.kernel = {*kernel, *dtype};
    op.shape.source = *source;
    costs.ops.push_back(op);
}

void takeReads(Taker& in, const Json& o, MeasuredCosts& costs) {
    MeasuredReads reads;
    const auto loader = loaderByName(in.text(o, "loader"));
    reads.threads = static_cast<std::int32_t>(in.real(o, "threads", 1, 4096));
    reads.requestNs = in.real(o, "request_ns", 0, 1e12);
    reads.bytesPerSecond = in.real(o, "bytes_per_s", 1e3, kMost);
    reads.freshBytesPerSecond = in.real(o, "fresh_bytes_per_s", 0, kMost);
    reads.computeLoss = in.real(o, "compute_loss", 0, 0.99);
    reads.readLoss = in.real(o, "read_loss", 0, 0.99);
    // Profiles of earlier versions have none of these.
    for (const auto& [key, value] :
         {std::pair{"lost_ns_per_byte", &reads.lostNsPerByte},
          {"touch_ns_per_byte", &reads.touchNsPerByte},
          {"wake_ns", &reads.wakeNs},
          {"release_ns_per_byte", &reads.releaseNsPerByte}})
        if (o.contains(key))
            *value = in.real(o, key, 0, 1e9);
    reads.residual = in.real(o, "residual", 0, 1e9);
    reads.samples = static_cast<std::int64_t>(in.real(o, "samples", 0, 1e15));
    if (!loader)
        return;
    reads.loader = *loader;
    costs.reads.push_back(reads);
}

void takeFile(Taker& in, const Json& o, MeasuredCosts& costs) {
    CachedFile file;
    file.model = in.text(o, "model");
    constexpr double kLeastCell = 4096, kMostCell = 1e12;
    file.cell =
        base::Bytes(static_cast<std::int64_t>(in.real(o, "cell_bytes", kLeastCell, kMostCell)));
    const auto list = o.find("copy_costs");
    if (list == o.end() || !list->is_array() || list->size() > kMostEntries)
        return in.fail("copy_costs", "is no list of a possible length");
    for (const Json& cost : *list) {
        constexpr double kMostCost = 1e3;
        const double x = cost.is_number() ? cost.get<double>() : -1;
        if (!(x > 0 && x <= kMostCost))
            return in.fail("copy_costs", "has an element that is out of range");
        file.costs.push_back(x);
    }
    costs.files.push_back(std::move(file));
}

} // namespace

std::string_view weightSourceName(WeightSource source) {
    return kSources[static_cast<std::size_t>(source)];
}

WeightSource heldSource(const Plan& plan) {
    const bool streams = plan.streamedPerToken.value > 0 && plan.config.loader != Loader::Mmap;
    return streams ? WeightSource::Pinned : WeightSource::Resident;
}

WeightSource freshSource(Loader loader) {
    switch (loader) {
    case Loader::Mmap:
        return WeightSource::Mapped;
    case Loader::Direct:
    case Loader::Uring:
        return WeightSource::Device;
    case Loader::Populate:
        return WeightSource::Pinned;
    case Loader::Auto:
    case Loader::Pread:
        break;
    }
    return WeightSource::Copied;
}

const MeasuredOp* MeasuredCosts::find(const OpShape& shape) const {
    const auto found = std::find_if(
        ops.begin(), ops.end(), [&](const MeasuredOp& op) { return op.shape == shape; });
    return found == ops.end() ? nullptr : &*found;
}

const MeasuredReads* MeasuredCosts::find(Loader loader, std::int32_t threads) const {
    const MeasuredReads* best = nullptr;
    for (const MeasuredReads& r : reads)
        if (r.loader == loader &&
            (!best || std::abs(r.threads - threads) < std::abs(best->threads - threads)))
            best = &r;
    return best;
}

Json toJson(const MeasuredCosts& costs) {
    Json ops = Json::array(), reads = Json::array();
    for (const MeasuredOp& op : costs.ops)
        ops.push_back(
            {{"kernel", kernelClassName(op.shape.kernel.kernel)},
             {"dtype", model::dtypeName(op.shape.kernel.dtype)},
             {"weights", weightSourceName(op.shape.source)},
             {"threads", op.shape.threads},
             {"rows", op.shape.rows},
             {"flops", op.shape.flops},
             {"flops_per_position", op.shape.flopsPerPosition},
             {"weight_bytes", op.shape.weightBytes},
             {"ns", op.ns},
             {"ns_per_position", op.nsPerPosition},
             {"residual", op.residual},
             {"samples", op.samples}});
    for (const MeasuredReads& r : costs.reads)
        reads.push_back(
            {{"loader", loaderName(r.loader)},
             {"threads", r.threads},
             {"request_ns", r.requestNs},
             {"bytes_per_s", r.bytesPerSecond},
             {"fresh_bytes_per_s", r.freshBytesPerSecond},
             {"compute_loss", r.computeLoss},
             {"read_loss", r.readLoss},
             {"lost_ns_per_byte", r.lostNsPerByte},
             {"touch_ns_per_byte", r.touchNsPerByte},
             {"wake_ns", r.wakeNs},
             {"release_ns_per_byte", r.releaseNsPerByte},
             {"residual", r.residual},
             {"samples", r.samples}});
    Json files = Json::array();
    for (const CachedFile& f : costs.files)
        files.push_back(
            {{"model", f.model}, {"cell_bytes", f.cell.value}, {"copy_costs", f.costs}});
    return {{"files", std::move(files)}, {"ops", std::move(ops)},      {"reads", std::move(reads)},
            {"start_ns", costs.startNs}, {"op_gap_ns", costs.opGapNs}, {"wake_ns", costs.wakeNs},
            {"row_ns", costs.rowNs}};
}

Result<MeasuredCosts> measuredFromJson(const Json& document) {
    MeasuredCosts costs;
    Taker in;
    if (!document.is_object())
        in.fail("", "is no object");
    else {
        in.each(document, "ops", [&](const Json& o) { takeOp(in, o, costs); });
        in.each(document, "reads", [&](const Json& o) { takeReads(in, o, costs); });
        if (document.contains("files")) // profiles of earlier versions have none
            in.each(document, "files", [&](const Json& o) { takeFile(in, o, costs); });
        costs.startNs = in.real(document, "start_ns", 0, 1e12);
        costs.opGapNs = in.real(document, "op_gap_ns", 0, 1e9);
        costs.wakeNs = in.real(document, "wake_ns", 0, 1e9);
        costs.rowNs = in.real(document, "row_ns", 0, 1e12);
    }
    if (!in.error().empty())
        return Error{
            ErrorCode::BadInput, in.error(), "board profile",
            "fit it again with `shardscope calibrate`"};
    return costs;
}

} // namespace shardscope::plan
