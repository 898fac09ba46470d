// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <nlohmann/json.hpp>

#include "sim_engine/plan/board_profile.h"

namespace shardscope::plan {

using Json = nlohmann::ordered_json;
using base::Bytes;

namespace {

constexpr double kMost = 1e15;
constexpr double kLongestNs = 1e14;

Json opsJson(const BoardProfile& p) {
    Json ops = Json::object();
    for (std::size_t kind = 0; kind < model::kOpKindCount; ++kind)
        ops[std::string(model::opKindName(static_cast<model::OpKind>(kind)))] =
            p.opsPerSecond[kind];
    return ops;
}

Json readsJson(const BoardProfile& p) {
    Json list = Json::array();
    for (const ReadPoint& r : p.reads)
        list.push_back(
            {{"path", readPathName(r.path)},
             {"bytes", r.bytes.value},
             {"depth", r.depth},
             {"p50_ns", r.p50Ns},
             {"p99_ns", r.p99Ns},
             {"bytes_per_s", r.bytesPerSecond}});
    return list;
}

Json kernelsJson(const BoardProfile& p) {
    Json all = Json::object();
    for (std::size_t kernel = 0; kernel < kKernelClassCount; ++kernel) {
        Json rates = Json::object();
        for (std::size_t dtype = 0; dtype < kDTypeCount; ++dtype)
            if (const KernelRate& rate = p.kernels[kernel][dtype]; rate.cached > 0)
                rates[std::string(model::dtypeName(static_cast<model::DType>(dtype)))] = {
                    rate.cached, rate.streamed > 0 ? rate.streamed : rate.cached};
        if (!rates.empty())
            all[std::string(kernelClassName(static_cast<KernelClass>(kernel)))] = std::move(rates);
    }
    return all;
}

Json threadsJson(const BoardProfile& p) {
    Json list = Json::array();
    for (const ThreadPoint& t : p.threadScaling)
        list.push_back(
            {{"threads", t.threads},
             {"compute_speed_up", t.computeSpeedUp},
             {"memory_bytes_per_s", t.memoryBytesPerSecond}});
    return list;
}

Json machineJson(const MachineFacts& m) {
    Json clusters = Json::array();
    for (const CpuCluster& c : m.clusters)
        clusters.push_back({{"cores", c.cores}, {"mhz", c.mhz}, {"name", c.name}});
    return {
        {"architecture", m.architecture},
        {"kernel", m.kernel},
        {"file_system", m.fileSystem},
        {"vector_target", m.vectorTarget},
        {"clusters", std::move(clusters)},
        {"cache_bytes", m.cacheBytes.value},
        {"cgroup_limit_bytes", m.cgroupLimit.value}};
}

/// The keys of the second part that have a value.
void addDetail(Json& json, const BoardProfile& p) {
    if (!p.reads.empty())
        json["reads"] = readsJson(p);
    if (Json kernels = kernelsJson(p); !kernels.empty())
        json["kernels"] = std::move(kernels);
    if (!p.threadScaling.empty())
        json["thread_scaling"] = threadsJson(p);
    json["op_fixed_alone_ns"] = p.opFixedAloneNs;
    json["token_fixed_ns"] = p.tokenFixedNs;
    const auto add = [&](const char* key, const std::optional<double>& value) {
        if (value)
            json[key] = *value;
    };
    add("overlap_direct", p.overlapDirect);
    add("overlap_throttled", p.overlapThrottled);
    add("minor_fault_ns", p.minorFaultNs);
    add("mapped_bytes_per_s", p.mappedBytesPerSecond);
    add("populated_bytes_per_s", p.populatedBytesPerSecond);
    json["machine"] = machineJson(p.machine);
    if (p.noise)
        json["noise"] = {
            {"compute", p.noise->compute},
            {"reads", p.noise->reads},
            {"load", p.noise->load},
            {"words", p.noise->words}};
    if (!p.measured.empty())
        json["measured"] = toJson(p.measured);
    if (p.sources.empty())
        return;
    Json sources = Json::object();
    for (const auto& [key, text] : p.sources)
        sources[key] = text;
    json["sources"] = std::move(sources);
}

/// Reads values of an object and remembers the first that is missing or impossible. `within` names
/// the object in errors: "machine.".
class Reader {
public:
    Reader(const Json& document, std::string within, std::string& error)
        : m_document(document), m_within(std::move(within)), m_error(error) {}

    bool has(const char* key) const {
        return m_document.is_object() && m_document.find(key) != m_document.end();
    }
    std::string text(const char* key) {
        const auto found = at(key);
        if (!found || !found->is_string())
            return fail(key, "is missing or no text"), std::string();
        return found->get<std::string>();
    }
    double real(const char* key, double low, double high) {
        const auto found = at(key);
        if (!found || !found->is_number())
            return fail(key, "is missing or no number"), low;
        return checked(*found, key, low, high);
    }
    std::int32_t whole(const char* key, std::int32_t low, std::int32_t high) {
        return static_cast<std::int32_t>(real(key, low, high));
    }
    Bytes bytes(const char* key, double low) {
        return Bytes(static_cast<std::int64_t>(real(key, low, kMost)));
    }
    std::optional<double> maybe(const char* key, double low, double high) {
        return has(key) ? std::optional(real(key, low, high)) : std::nullopt;
    }
    double checked(const Json& value, const std::string& key, double low, double high) {
        const double x = value.is_number() ? value.get<double>() : std::nan("");
        if (!std::isfinite(x) || x < low || x > high)
            return fail(key, "is out of range"), low;
        return x;
    }
    /// fn(element, reader of it) for each object of a list of at most `most`.
    template <typename Fn>
    void each(const char* key, std::size_t most, Fn&& fn) {
        const auto found = at(key);
        if (!found || !found->is_array() || found->empty() || found->size() > most)
            return fail(key, "is no list of a possible length");
        for (std::size_t i = 0; i < found->size() && m_error.empty(); ++i) {
            Reader element((*found)[i], m_within + key + ".", m_error);
            if (!(*found)[i].is_object())
                return fail(key, "has an element that is no object");
            fn(element);
        }
    }
    const Json* object(const char* key) {
        const auto found = at(key);
        if (found && found->is_object())
            return found;
        return fail(key, "is no object"), nullptr;
    }
    Reader inside(const char* key) {
        static const Json kNothing = Json::object();
        const Json* found = object(key);
        return Reader(found ? *found : kNothing, m_within + key + ".", m_error);
    }
    void fail(const std::string& key, const char* why) {
        if (m_error.empty())
            m_error = "\"" + m_within + key + "\" " + why;
    }

    /// An error that names its key itself.
    void failWhole(const std::string& what) {
        if (m_error.empty())
            m_error = what;
    }

private:
    const Json* at(const char* key) const {
        if (!m_document.is_object())
            return nullptr;
        const auto found = m_document.find(key);
        return found == m_document.end() ? nullptr : &*found;
    }
    const Json& m_document;
    std::string m_within;
    std::string& m_error;
};

void readOps(Reader& in, BoardProfile& p) {
    const Json* all = in.object("ops_per_s");
    for (std::size_t kind = 0; all && kind < model::kOpKindCount; ++kind) {
        const std::string name(model::opKindName(static_cast<model::OpKind>(kind)));
        const auto rates = all->find(name);
        if (rates == all->end() || !rates->is_array() || rates->size() != 2)
            return in.fail("ops_per_s." + name, "is not a pair of rates");
        for (std::size_t i = 0; i < 2; ++i)
            p.opsPerSecond[kind][i] = in.checked((*rates)[i], "ops_per_s." + name, 1e3, 1e16);
    }
}

std::optional<ReadPath> pathByName(const std::string& name) {
    for (const ReadPath path : {ReadPath::Cached, ReadPath::Buffered, ReadPath::Direct})
        if (readPathName(path) == name)
            return path;
    return std::nullopt;
}

void readReads(Reader& in, BoardProfile& p) {
    in.each("reads", 256, [&](Reader& r) {
        ReadPoint point;
        const auto path = pathByName(r.text("path"));
        if (!path)
            return r.fail("path", "is none of cached, buffered, direct");
        point.path = *path;
        point.bytes = Bytes(static_cast<std::int64_t>(r.real("bytes", 1, 1e12)));
        point.depth = r.whole("depth", 1, 4096);
        point.p50Ns = r.real("p50_ns", 0, kLongestNs);
        point.p99Ns = r.real("p99_ns", 0, kLongestNs);
        point.bytesPerSecond = r.real("bytes_per_s", 1, kMost);
        if (point.p99Ns < point.p50Ns)
            return r.fail("p99_ns", "is less than the median");
        p.reads.push_back(point);
    });
}

/// Kernels and types that this version does not know are left out: a newer probe measured them.
void readKernels(Reader& in, BoardProfile& p) {
    const Json* all = in.object("kernels");
    if (!all)
        return;
    for (const auto& [name, types] : all->items()) {
        const auto kernel = kernelClassByName(name);
        if (!types.is_object())
            return in.fail("kernels." + name, "is no object");
        for (const auto& [type, rates] : types.items()) {
            const std::string key = "kernels." + name + "." + type;
            if (!rates.is_array() || rates.size() != 2)
                return in.fail(key, "is not a pair of rates");
            const KernelRate rate{
                in.checked(rates[0], key, 1e3, 1e16), in.checked(rates[1], key, 1e3, 1e16)};
            if (const auto dtype = model::dtypeByName(type); kernel && dtype)
                p.kernels[static_cast<std::size_t>(*kernel)][static_cast<std::size_t>(*dtype)] =
                    rate;
        }
    }
}

void readThreads(Reader& in, BoardProfile& p) {
    in.each("thread_scaling", 256, [&](Reader& t) {
        ThreadPoint point;
        point.threads = t.whole("threads", 1, 4096);
        point.computeSpeedUp = t.real("compute_speed_up", 0.01, 4096);
        point.memoryBytesPerSecond = t.real("memory_bytes_per_s", 1e4, 1e19);
        if (!p.threadScaling.empty() && point.threads <= p.threadScaling.back().threads)
            return t.fail("threads", "does not ascend");
        p.threadScaling.push_back(point);
    });
}

void readMachine(Reader& in, BoardProfile& p) {
    Reader m = in.inside("machine");
    p.machine.architecture = m.text("architecture");
    p.machine.kernel = m.text("kernel");
    p.machine.fileSystem = m.text("file_system");
    p.machine.vectorTarget = m.text("vector_target");
    p.machine.cacheBytes = m.bytes("cache_bytes", 0);
    p.machine.cgroupLimit = m.bytes("cgroup_limit_bytes", 0);
    const Json* facts = in.object("machine");
    if (!facts || !facts->contains("clusters") || (*facts)["clusters"].empty())
        return;
    m.each("clusters", 64, [&](Reader& c) {
        p.machine.clusters.push_back(
            {c.whole("cores", 0, 4096), c.whole("mhz", 0, 100000), c.text("name")});
    });
}

void readNoise(Reader& in, BoardProfile& p) {
    Reader n = in.inside("noise");
    ProbeNoise noise;
    noise.compute = n.real("compute", 0, 1e6);
    noise.reads = n.real("reads", 0, 1e6);
    noise.load = n.real("load", 0, 1e6);
    noise.words = n.text("words");
    p.noise = std::move(noise);
}

void readSources(Reader& in, BoardProfile& p) {
    const Json* all = in.object("sources");
    if (!all)
        return;
    for (const auto& [key, text] : all->items()) {
        if (!text.is_string())
            return in.fail("sources." + key, "is no text");
        p.sources.emplace_back(key, text.get<std::string>());
    }
}

void readMeasured(Reader& in, BoardProfile& p) {
    const Json* found = in.object("measured");
    if (!found)
        return;
    auto costs = measuredFromJson(*found);
    if (!costs)
        return in.failWhole(costs.error().what);
    p.measured = std::move(*costs);
}

void readFirstPart(Reader& in, BoardProfile& p) {
    p.name = in.text("name");
    p.source = in.text("source");
    p.cpu = in.text("cpu");
    p.storage = in.text("storage");
    p.ramTotal = in.bytes("ram_total_bytes", 1 << 20);
    p.ramReserved = in.bytes("ram_reserved_bytes", 0);
    p.cores = in.whole("cores", 1, 4096);
    p.fastCores = in.whole("fast_cores", 1, 256);
    p.readLatencyNs = in.real("read_latency_ns", 0, 1e10);
    p.readBytesPerSecond = in.real("read_bytes_per_s", 1e3, kMost);
    p.memoryBytesPerSecond = in.real("memory_bytes_per_s", 1e6, kMost);
    p.memoryScale = in.real("memory_scale", 0.1, 4096);
    readOps(in, p);
    p.opFixedNs = in.real("op_fixed_ns", 0, 1e9);
    p.threadEfficiency = in.real("thread_efficiency", 0, 1);
    p.pageFaultNs = in.real("page_fault_ns", 0, 1e9);
    p.overlap = in.real("overlap", 0, 1);
    if (p.ramReserved > p.ramTotal)
        in.fail("ram_reserved_bytes", "is more than there is");
    if (p.fastCores > p.cores)
        in.fail("fast_cores", "is more than there are");
}

void readSecondPart(Reader& in, BoardProfile& p) {
    for (const auto& [key, read] :
         std::initializer_list<std::pair<const char*, void (*)(Reader&, BoardProfile&)>>{
             {"reads", readReads},
             {"kernels", readKernels},
             {"thread_scaling", readThreads},
             {"machine", readMachine},
             {"noise", readNoise},
             {"sources", readSources},
             {"measured", readMeasured}})
        if (in.has(key))
            read(in, p);
    p.opFixedAloneNs = in.maybe("op_fixed_alone_ns", 0, 1e9).value_or(0);
    p.tokenFixedNs = in.maybe("token_fixed_ns", 0, 1e10).value_or(0);
    p.overlapDirect = in.maybe("overlap_direct", 0, 1);
    p.overlapThrottled = in.maybe("overlap_throttled", 0, 1);
    p.minorFaultNs = in.maybe("minor_fault_ns", 0, 1e9);
    p.mappedBytesPerSecond = in.maybe("mapped_bytes_per_s", 1e3, kMost);
    p.populatedBytesPerSecond = in.maybe("populated_bytes_per_s", 1e3, kMost);
}

} // namespace

Json toJson(const BoardProfile& p) {
    Json json{
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
        {"ops_per_s", opsJson(p)},
        {"op_fixed_ns", p.opFixedNs},
        {"thread_efficiency", p.threadEfficiency},
        {"page_fault_ns", p.pageFaultNs},
        {"overlap", p.overlap}};
    addDetail(json, p);
    return json;
}

base::Result<BoardProfile> profileFromJson(const Json& document) {
    std::string error;
    Reader in(document, "", error);
    BoardProfile p;
    readFirstPart(in, p);
    if (error.empty())
        readSecondPart(in, p);
    if (!error.empty())
        return base::Error{
            base::ErrorCode::BadInput, error,
            p.name.empty() ? "board profile" : "board profile " + p.name,
            "mend the file, or make one with `shardscope-agent probe --json`"};
    fillDerived(p);
    return p;
}

} // namespace shardscope::plan
