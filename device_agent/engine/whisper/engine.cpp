// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/whisper/engine.h"

#include <algorithm>

#include "device_agent/engine/weights/choose_loader.h"
#include "device_agent/engine/whisper/run_executor.h"
#include "sim_engine/base/format.h"

namespace shardscope::engine {
namespace {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;
using tokenizer::Token;

Error unsupported(const char* flag, const char* what, const char* mend) {
    return {ErrorCode::Usage, what, flag, mend};
}

/// A section of the model file's header.
Result<std::vector<std::byte>>
readSection(const WeightFile& file, const model::ModelCard& card, const char* name) {
    const model::Section* section = card.section(name);
    if (!section)
        return Error{
            ErrorCode::BadInput, std::string("no ") + name + " in this model", card.name,
            "give a model file: a built-in card can be planned, not run"};
    std::vector<std::byte> bytes(section->bytes.size());
    if (Status status = file.read(section->offset, bytes.data(), section->bytes); !status)
        return status.error();
    return bytes;
}

Result<tokenizer::Vocabulary> readVocabulary(const WeightFile& file, const model::ModelCard& card) {
    auto bytes = readSection(file, card, "vocabulary");
    if (!bytes)
        return bytes.error();
    return tokenizer::Vocabulary::read(
        *bytes, static_cast<int>(card.hparam("n_vocab")), file.path(),
        static_cast<std::uint64_t>(card.section("vocabulary")->offset.value));
}

Result<audio::MelFrontEnd> readMel(const WeightFile& file, const model::ModelCard& card) {
    auto bytes = readSection(file, card, "mel_filters");
    if (!bytes)
        return bytes.error();
    return audio::MelFrontEnd::create({*bytes, static_cast<int>(card.hparam("n_mels"))});
}

class WhisperEngine final : public Engine {
public:
    WhisperEngine(
        const plan::Plan& plan, RunRequest request, RunRings rings, WeightFile file, Arena arena,
        audio::WavReader wav, audio::MelFrontEnd mel, tokenizer::Vocabulary vocabulary)
        : m_plan(plan), m_request(std::move(request)), m_rings(rings), m_file(std::move(file)),
          m_arena(std::move(arena)),
          m_run(plan, m_request, m_arena, std::move(wav), std::move(mel), std::move(vocabulary)) {}

    Status prepare();
    Status run(const RunClock& clock) override;

    const tokenizer::Vocabulary& vocabulary() const override { return m_run.vocabulary; }
    plan::Loader loader() const override { return m_loader.loader->kind(); }
    const std::string& loaderReason() const override { return m_loader.reason; }
    const std::vector<std::string>& notes() const override { return m_loader.notes; }
    std::int64_t audioMs() const override {
        return m_run.wav.sampleCount() * 1000 / audio::kSampleRate;
    }
    std::optional<tokenizer::DetectedLanguage> language() const override { return m_run.language; }
    std::int32_t windows() const override { return m_run.mel.windowCount(m_run.wav.sampleCount()); }

private:
    const plan::Plan& m_plan;
    RunRequest m_request;
    RunRings m_rings;
    WeightFile m_file;
    Arena m_arena;
    RunState m_run;
    ChosenLoader m_loader;
};

Status WhisperEngine::prepare() {
    m_loader = chooseLoader(m_plan, m_file, m_arena, m_request.freeRam);
    m_run.prompt = m_request.promptIds;
    if (m_run.prompt.empty()) {
        // One that is found out stands in for English until then.
        const bool open = m_plan.config.language == plan::kAutoLanguage;
        auto usual = m_run.vocabulary.defaultPrompt(
            open ? "en" : std::string_view(m_plan.config.language), m_plan.config.timestamps);
        if (!usual)
            return usual.error();
        m_run.prompt = std::move(*usual);
    }
    if (static_cast<std::int32_t>(m_run.prompt.size()) != m_plan.graph->promptTokens)
        return Error{
            ErrorCode::Usage, "the plan was made for another prompt", "--prompt-ids",
            "plan with prompt_tokens of its length"};
    const auto batch = static_cast<std::size_t>(m_plan.graph->batch);
    const std::int32_t beams = m_plan.graph->beam;
    if (beams > 1 && m_run.dumpLogits.wanted())
        return unsupported(
            "--dump-logits", "beams have no logits that follow each other step by step",
            "leave --beam at 1");
    m_run.inputs.reserve(std::max(m_run.prompt.size(), static_cast<std::size_t>(beams)) * batch);
    const Picking picking = m_request.rawGreedy        ? Picking::Raw
                            : m_plan.config.timestamps ? Picking::Timestamps
                                                       : Picking::Text;
    m_run.picks.reserve(batch);
    m_run.searches.reserve(batch);
    for (std::size_t i = 0; i < batch; ++i)
        if (beams > 1)
            m_run.searches.emplace_back(
                m_run.vocabulary, m_run.suppression, picking, beams, m_plan.config.maxTokens,
                m_run.textPositions);
        else
            m_run.picks.emplace_back(m_run.vocabulary, m_run.suppression, picking);
    for (DumpFile* dump : {&m_run.dumpMel, &m_run.dumpEncoder, &m_run.dumpLogits})
        if (Status status = dump->create(); !status)
            return status;
    return {};
}

Status WhisperEngine::run(const RunClock& clock) {
    {
        std::vector<std::byte> scratch(
            static_cast<std::size_t>(audio::MelFrontEnd::scratchBytes().value));
        auto maximum = m_run.mel.prepare(m_run.wav, scratch);
        if (!maximum)
            return maximum.error();
        m_run.melMaximum = *maximum;
    }
    const bool isTraced = m_request.isTraced;
    IoThread io(m_plan, *m_loader.loader, clock, isTraced ? &m_rings.io : nullptr);
    const auto direct = m_loader.readsPastCache ? m_file.directDescriptor() : Result<int>(-1);
    RowReader rows(m_file, direct ? *direct : -1);
    RunExecutor executor(
        m_run, rows, *m_loader.loader, io, clock, isTraced ? &m_rings.compute : nullptr);
    plan::Walk<RunExecutor>(m_plan, executor).run(windows());
    m_arena.release(); // no read is under way any more; the result is told beside an empty arena
    if (!m_run.status.ok())
        return m_run.status;
    for (DumpFile* dump : {&m_run.dumpMel, &m_run.dumpEncoder, &m_run.dumpLogits})
        if (Status status = dump->finish(); !status)
            return status;
    return {};
}

} // namespace

RunState::RunState(
    const plan::Plan& runPlan, const RunRequest& runRequest, const Arena& arena,
    audio::WavReader reader, audio::MelFrontEnd frontEnd, tokenizer::Vocabulary words)
    : plan(runPlan), request(runRequest), shape(model::whisperShape(*runPlan.card)),
      width(static_cast<std::size_t>(shape.audioState)),
      positions(static_cast<std::size_t>(
          runPlan.config.audioCtx > 0 ? runPlan.config.audioCtx : shape.audioPositions)),
      crossPositions(runPlan.config.crossKeep < 1 ? (positions + 1) / 2 : positions),
      textPositions(std::min(
          static_cast<std::size_t>(shape.textPositions),
          static_cast<std::size_t>(runPlan.graph->promptTokens + runPlan.config.maxTokens))),
      wav(std::move(reader)), mel(std::move(frontEnd)), vocabulary(std::move(words)),
      suppression(tokenizer::defaultSuppression(vocabulary)), memory(runPlan, arena),
      pool(static_cast<unsigned>(runPlan.config.threads)), vote(vocabulary),
      dumpMel(runRequest.dumpMel), dumpEncoder(runRequest.dumpEncoder),
      dumpLogits(runRequest.dumpLogits) {}

kernels::KvCache
cacheOf(const RunState& run, base::BufferId buffer, bool cross, std::size_t number) {
    using model::KvType;
    const KvType type = cross ? run.plan.config.crossKv : run.plan.config.kv;
    kernels::KvCache cache;
    cache.shape.type = type == KvType::F32   ? kv::KvType::F32
                       : type == KvType::F16 ? kv::KvType::F16
                       : type == KvType::Q8  ? kv::KvType::Q8
                                             : kv::KvType::Q4;
    cache.shape.heads = static_cast<std::size_t>(run.shape.textHeads);
    cache.shape.headDim = static_cast<std::size_t>(run.shape.headDim());
    cache.shape.capacity = cross ? run.crossPositions : run.textPositions;
    const std::size_t part = kv::kvPartBytes(cache.shape);
    cache.keys = run.memory.bytes(buffer).data() + number * 2 * part;
    cache.values = cache.keys + part;
    cache.slotStride = 2 * part;
    return cache;
}

namespace {

Status checkLanguage(const model::ModelCard& card, const std::string& language) {
    const bool multilingual = model::whisperShape(card).multilingual();
    if (language == "en" || (multilingual && language == plan::kAutoLanguage))
        return {};
    if (!multilingual)
        return unsupported("--language", "this model knows English alone", "leave it at en");
    if (!tokenizer::Vocabulary::languageId(language))
        return unsupported(
            "--language", "Whisper does not know this language",
            "give an ISO 639 code such as en, de or zh, or auto");
    return {};
}

} // namespace

Status checkSupported(const model::ModelCard& card, const plan::RunConfig& config) {
    if (card.family != model::kWhisperFamily)
        return Error{ErrorCode::BadInput, "the engine runs Whisper models", card.name, "give one"};
    return checkLanguage(card, config.language);
}

Result<std::int32_t> promptTokensFor(
    const model::ModelCard& card, const plan::RunConfig& config,
    const std::vector<Token>& promptIds) {
    if (!promptIds.empty() && config.language == plan::kAutoLanguage)
        return unsupported(
            "--prompt-ids", "a prompt that is given leaves no language to find out",
            "give --language too, or no prompt");
    for (const Token id : promptIds)
        if (id < 0 || id >= card.hparam("n_vocab"))
            return Error{
                ErrorCode::Usage, base::formatted("%d is no token of this model", id),
                "--prompt-ids", "give ids below n_vocab"};
    const auto count = static_cast<std::int32_t>(promptIds.size());
    const auto usual = model::whisperPromptTokens(model::whisperShape(card), config.timestamps);
    return count == usual ? 0 : count;
}

Result<std::unique_ptr<Engine>>
Engine::open(const plan::Plan& plan, const RunRequest& request, RunRings rings) {
    if (Status status = checkSupported(*plan.card, plan.config); !status)
        return status.error();
    auto file = WeightFile::open(request.modelPath);
    if (!file)
        return file.error();
    auto wav = audio::WavReader::open(request.audioPath);
    if (!wav)
        return wav.error();
    auto vocabulary = readVocabulary(*file, *plan.card);
    if (!vocabulary)
        return vocabulary.error();
    auto mel = readMel(*file, *plan.card);
    if (!mel)
        return mel.error();
    auto arena = Arena::reserve(plan.peak);
    if (!arena)
        return arena.error();
    auto engine = std::make_unique<WhisperEngine>(
        plan, request, rings, std::move(*file), std::move(*arena), std::move(*wav), std::move(*mel),
        std::move(*vocabulary));
    if (Status status = engine->prepare(); !status)
        return status.error();
    return std::unique_ptr<Engine>(std::move(engine));
}

} // namespace shardscope::engine
