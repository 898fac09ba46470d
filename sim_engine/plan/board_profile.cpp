// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/board_profile.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace shardscope::plan {

using Json = nlohmann::ordered_json;
using base::Bytes;

base::Nanos BoardProfile::readTime(Bytes bytes, double limit) const {
    const double rate = limit > 0 ? std::min(limit, readBytesPerSecond) : readBytesPerSecond;
    return base::Nanos(std::llround(readLatencyNs + bytes.real() / rate * 1e9));
}

Json toJson(const BoardProfile& p) {
    Json ops = Json::object();
    for (std::size_t kind = 0; kind < model::kOpKindCount; ++kind)
        ops[std::string(model::opKindName(static_cast<model::OpKind>(kind)))] =
            p.opsPerSecond[kind];
    return {
        {"name", p.name},
        {"source", p.source},
        {"cpu", p.cpu},
        {"storage", p.storage},
        {"ram_total_bytes", p.ramTotal.value},
        {"ram_reserved_bytes", p.ramReserved.value},
        {"cores", p.cores},
        {"fast_cores", p.fastCores},
        {"read_latency_ns", p.readLatencyNs},
        {"read_bytes_per_s", p.readBytesPerSecond},
        {"memory_bytes_per_s", p.memoryBytesPerSecond},
        {"memory_scale", p.memoryScale},
        {"ops_per_s", std::move(ops)},
        {"op_fixed_ns", p.opFixedNs},
        {"thread_efficiency", p.threadEfficiency},
        {"page_fault_ns", p.pageFaultNs},
        {"overlap", p.overlap}};
}

namespace {

/// Reads values of a profile and remembers the first that is missing or impossible.
class Reader {
public:
    explicit Reader(const Json& document) : m_document(document) {}

    std::string text(const char* key) {
        const auto found = m_document.find(key);
        if (found == m_document.end() || !found->is_string())
            return fail(key, "is missing or no text"), std::string();
        return found->get<std::string>();
    }
    double real(const char* key, double low, double high) {
        return real(m_document, key, low, high);
    }
    double real(const Json& object, const char* key, double low, double high) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_number())
            return fail(key, "is missing or no number"), low;
        return checked(*found, key, low, high);
    }
    double checked(const Json& value, const std::string& key, double low, double high) {
        const double x = value.is_number() ? value.get<double>() : std::nan("");
        if (!std::isfinite(x) || x < low || x > high)
            return fail(key, "is out of range"), low;
        return x;
    }
    void ops(BoardProfile& p) {
        const auto found = m_document.find("ops_per_s");
        if (found == m_document.end() || !found->is_object())
            return fail("ops_per_s", "is missing");
        for (std::size_t kind = 0; kind < model::kOpKindCount; ++kind) {
            const std::string name(model::opKindName(static_cast<model::OpKind>(kind)));
            const auto rates = found->find(name);
            if (rates == found->end() || !rates->is_array() || rates->size() != 2)
                return fail("ops_per_s." + name, "is not a pair of rates");
            for (std::size_t i = 0; i < 2; ++i)
                p.opsPerSecond[kind][i] = checked((*rates)[i], "ops_per_s." + name, 1e3, 1e16);
        }
    }
    void fail(const std::string& key, const char* why) {
        if (m_error.empty())
            m_error = "\"" + key + "\" " + why;
    }
    const std::string& error() const { return m_error; }

private:
    const Json& m_document;
    std::string m_error;
};

} // namespace

base::Result<BoardProfile> profileFromJson(const Json& document) {
    Reader in(document);
    BoardProfile p;
    p.name = in.text("name");
    p.source = in.text("source");
    p.cpu = in.text("cpu");
    p.storage = in.text("storage");
    constexpr double kMost = 1e15;
    p.ramTotal = Bytes(static_cast<std::int64_t>(in.real("ram_total_bytes", 1 << 20, kMost)));
    p.ramReserved = Bytes(static_cast<std::int64_t>(in.real("ram_reserved_bytes", 0, kMost)));
    p.cores = static_cast<std::int32_t>(in.real("cores", 1, 4096));
    p.fastCores = static_cast<std::int32_t>(in.real("fast_cores", 1, 256));
    p.readLatencyNs = in.real("read_latency_ns", 0, 1e10);
    p.readBytesPerSecond = in.real("read_bytes_per_s", 1e3, kMost);
    p.memoryBytesPerSecond = in.real("memory_bytes_per_s", 1e6, kMost);
    p.memoryScale = in.real("memory_scale", 0.1, 4096);
    in.ops(p);
    p.opFixedNs = in.real("op_fixed_ns", 0, 1e9);
    p.threadEfficiency = in.real("thread_efficiency", 0, 1);
    p.pageFaultNs = in.real("page_fault_ns", 0, 1e9);
    p.overlap = in.real("overlap", 0, 1);
    if (p.ramReserved > p.ramTotal)
        in.fail("ram_reserved_bytes", "is more than there is");
    if (p.fastCores > p.cores)
        in.fail("fast_cores", "is more than there are");
    if (!in.error().empty())
        return base::Error{
            base::ErrorCode::BadInput, in.error(),
            p.name.empty() ? "board profile" : "board profile " + p.name,
            "mend the file, or make one with `shardscope-agent probe --json`"};
    return p;
}

} // namespace shardscope::plan
