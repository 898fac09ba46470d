// SPDX-License-Identifier: GPL-3.0-or-later
#include "targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/engine/audio/wav_reader.h"
#include "sim_engine/analyze/summary.h"
#include "sim_engine/base/args.h"
#include "sim_engine/base/format.h"
#include "sim_engine/model/card_json.h"
#include "sim_engine/model/ggml_whisper_file.h"
#include "sim_engine/plan/knobs.h"
#include "sim_engine/plan/plan.h"
#include "sim_engine/trace/recording.h"

namespace shardscope::fuzz {
namespace {

/// A file that lies in memory, with a path by which readers open it.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : m_fd(::memfd_create("fuzz", 0)) {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::write(m_fd, bytes.data() + done, bytes.size() - done);
            if (n <= 0)
                std::abort();
            done += static_cast<std::size_t>(n);
        }
    }
    ~MemoryFile() { ::close(m_fd); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(m_fd); }

private:
    int m_fd;
};

void check(bool holds) {
    if (!holds)
        std::abort();
}

/// An error is one line that says what, and what to do.
void checkError(const base::Error& error) {
    check(!error.what.empty());
    check(!error.mend.empty());
}

plan::BoardProfile anyBoard() {
    plan::BoardProfile board;
    board.readBytesPerSecond = board.memoryBytesPerSecond = 1e8;
    for (auto& rates : board.opsPerSecond)
        rates = {1e9, 1e9};
    return board;
}

/// What is taken for a card must be planned without harm, or refused.
void planFor(const model::ModelCard& card) {
    plan::RunConfig config;
    config.maxTokens = 3;
    const auto planned =
        plan::plan(std::make_shared<const model::ModelCard>(card), config, anyBoard());
    if (!planned)
        return checkError(planned.error());
    if (const auto* p = std::get_if<plan::Plan>(&*planned))
        for (const plan::Shard& shard : p->shards)
            for (const plan::Extent& e : shard.extents)
                check(e.fileOffset.value >= 0 && e.fileOffset + e.bytes <= card.fileBytes);
}

nlohmann::ordered_json jsonOf(std::string_view bytes) {
    return trace::parseControl(bytes);
}

} // namespace

void readFrames(std::string_view bytes) {
    trace::FrameReader reader;
    trace::RecordingBuilder builder;
    std::uint64_t frames = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        // Pieces of 1 to 64 bytes, by what stands there.
        const std::size_t n = std::min<std::size_t>(
            bytes.size() - at, 1 + static_cast<unsigned char>(bytes[at]) % 64);
        reader.push(bytes.substr(at, n));
        at += n;
        if (at == bytes.size())
            reader.end();
        while (const auto frame = reader.next()) {
            ++frames;
            if (const auto status = builder.add(*frame); !status)
                checkError(status.error());
        }
    }
    check(reader.pendingBytes() <= bytes.size() && reader.skippedBytes() <= bytes.size());
    const trace::Recording recording = builder.take();
    check(recording.trace.events.size() * sizeof(trace::Event) <= bytes.size());
    const analyze::Summary summary = analyze::summarise(recording.trace);
    check(summary.tokens.size() <= recording.trace.events.size());
}

void readModel(std::string_view bytes) {
    const MemoryFile file(bytes);
    const auto card = model::readGgmlWhisper(file.path());
    if (!card)
        return checkError(card.error());
    for (const model::TensorInfo& t : card->tensors)
        check(t.offset.value >= 0 && t.offset + t.bytes <= card->fileBytes);
    planFor(*card);
}

void readConfig(std::string_view bytes) {
    const auto config = plan::configFromJson(jsonOf(bytes));
    if (!config)
        return checkError(config.error());
    const auto back = plan::configFromJson(toJson(*config));
    check(back.ok() && *back == *config);
}

void readProfile(std::string_view bytes) {
    const auto profile = plan::profileFromJson(jsonOf(bytes));
    if (!profile)
        return checkError(profile.error());
    const auto again = plan::profileFromJson(toJson(*profile));
    check(again.ok() && toJson(*again) == toJson(*profile));
    for (const std::int32_t threads : {1, 3, 1000})
        check(profile->computeSpeedUp(threads) > 0 && profile->memoryRate(threads) > 0);
    for (const std::int64_t bytes : {1, 4096, 1 << 30})
        check(
            profile->requestNs(plan::ReadPath::Direct, base::Bytes(bytes)) >= 0 &&
            profile->readRate(plan::ReadPath::Buffered, base::Bytes(bytes), 8) > 0);
    check(profile->readTime(base::mebibytes(1024), 0).value >= 0);
}

void readLegend(std::string_view bytes) {
    const auto legend = trace::legendFromJson(jsonOf(bytes));
    if (!legend)
        return checkError(legend.error());
    for (const trace::OpLegend& op : legend->ops)
        check(op.shard == base::ShardId::kNone || op.shard < legend->shards.size());
}

void readCard(std::string_view bytes) {
    const auto card = model::cardFromJson(jsonOf(bytes));
    if (!card)
        return checkError(card.error());
    planFor(*card);
}

void readWav(std::string_view bytes) {
    const MemoryFile file(bytes);
    const auto wav = audio::WavReader::open(file.path());
    if (!wav)
        return checkError(wav.error());
    check(wav->sampleCount() >= 1);
    check(static_cast<std::uint64_t>(wav->sampleCount()) <= bytes.size());
    std::vector<float> samples(300);
    for (const std::int64_t from : {std::int64_t{0}, wav->sampleCount() - 1, wav->sampleCount()})
        if (wav->read(from, samples).ok())
            for (const float x : samples)
                check(x >= -1e6f && x <= 1e6f);
}

void readWords(std::string_view bytes) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
        words.emplace_back(bytes.substr(at, end - at));
        at = end + 1;
    }
    std::vector<base::Flag> flags;
    for (const plan::Knob& knob : plan::knobs())
        flags.push_back({knob.flag, knob.values, knob.help});
    if (const auto args = base::Args::parse(words, flags); !args)
        checkError(args.error());
    for (const std::string& word : words) {
        if (const auto n = base::parseBytes(word))
            check(n->value >= 0);
        for (const plan::Knob& knob : plan::knobs()) {
            plan::RunConfig config, back;
            if (plan::setKnob(config, knob.flag, word))
                check(plan::setKnob(back, knob.key, knob.print(config)).ok() && back == config);
        }
    }
}

} // namespace shardscope::fuzz
