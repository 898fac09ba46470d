// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cstdio>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "device_agent/agent/json_file.h"
#include "device_agent/agent/knob_flags.h"
#include "device_agent/agent/run_job.h"
#include "device_agent/agent/verbs.h"
#include "sim_engine/analyze/word_errors.h"
#include "sim_engine/base/format.h"
#include "sim_engine/model/file_bytes.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::agent {
namespace {

using Json = nlohmann::ordered_json;
using analyze::EditCount;
using base::Error;
using base::ErrorCode;
using base::Flag;
using base::Result;

struct Clip {
    std::string file, split, text;
};

struct Score {
    EditCount words, characters;
    int clips = 0;

    void add(const Clip& clip, const std::string& heard) {
        words += analyze::wordErrors(clip.text, heard);
        characters += analyze::characterErrors(clip.text, heard);
        ++clips;
    }
    Json json() const {
        return {
            {"wer", words.rate()},
            {"cer", characters.rate()},
            {"word_errors", words.edits},
            {"words", words.length},
            {"clips", clips}};
    }
};

/// transcripts.tsv: file, split, text, no header.
Result<std::vector<Clip>> readList(const std::string& folder) {
    const std::string path = folder + "/transcripts.tsv";
    auto file = model::FileBytes::open(path);
    if (!file)
        return file.error();
    constexpr base::Bytes kMost = base::mebibytes(64);
    if (file->size() > kMost)
        return Error{ErrorCode::BadInput, "the list is too long", path, "split the set"};
    std::string text(file->size().size(), '\0');
    if (auto status = file->read(base::Bytes(0), text.data(), file->size()); !status)
        return status.error();
    std::vector<Clip> clips;
    for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string row = text.substr(at, end - at);
        at = end + 1;
        if (row.empty())
            continue;
        const std::size_t first = row.find('\t'), second = row.find('\t', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            return Error{
                ErrorCode::BadInput, "a line without three columns",
                base::formatted("%s, line %zu", path.c_str(), line),
                "write file, split and text with tabs between them"};
        const std::size_t third = std::min(row.find('\t', second + 1), row.size());
        clips.push_back(
            {row.substr(0, first), row.substr(first + 1, second - first - 1),
             row.substr(second + 1, third - second - 1)});
    }
    if (clips.empty())
        return Error{ErrorCode::BadInput, "no clips are listed", path, "list some"};
    return clips;
}

/// Runs the model over all clips.
Result<Json> evaluate(
    const std::string& model, const std::string& folder, const std::vector<Clip>& clips,
    const plan::RunConfig& config) {
    Score all;
    std::map<std::string, Score> splits;
    Json list = Json::array(), last;
    for (const Clip& clip : clips) {
        RunJob job;
        job.request.modelPath = model;
        job.request.audioPath = folder + "/" + clip.file;
        job.config = config;
        auto result = job.perform();
        if (!result)
            return result.error();
        const std::string heard = (*result)["text"].get<std::string>();
        all.add(clip, heard);
        splits[clip.split].add(clip, heard);
        list.push_back(
            {{"file", clip.file},
             {"split", clip.split},
             {"text", clip.text},
             {"heard", heard},
             {"word_errors", analyze::wordErrors(clip.text, heard).edits}});
        last = std::move(*result);
    }
    Json document = all.json(), parts = Json::object();
    for (const auto& [name, score] : splits)
        parts[name] = score.json();
    document["splits"] = std::move(parts);
    for (const char* key : {"plan", "memory", "config"})
        document[key] = last[key]; // the same plan for every clip
    document["list"] = std::move(list);
    return document;
}

/// What the table of accuracy against memory compares.
constexpr std::array<std::pair<const char*, std::array<const char*, 3>>, 7> kTable{{
    {"f32", {"f32", "f32", "1.0"}},
    {"f16", {"f16", "f16", "1.0"}},
    {"q8", {"q8", "q8", "1.0"}},
    {"q4", {"q4", "q4", "1.0"}},
    {"shared", {"f16", "shared", "1.0"}},
    {"q8, keep 0.5", {"q8", "q8", "0.5"}},
    {"shared, keep 0.5", {"q8", "shared", "0.5"}},
}};

Result<int> printTable(
    const std::string& model, const std::string& folder, const std::vector<Clip>& clips,
    const plan::RunConfig& config) {
    std::printf(
        "| KV and cross KV | word error rate | character error rate | cross KV | self KV |\n"
        "|---|---|---|---|---|\n");
    for (const auto& [name, knobs] : kTable) {
        plan::RunConfig row = config;
        constexpr std::array<const char*, 3> kFlags{"--kv", "--cross-kv", "--cross-keep"};
        for (std::size_t i = 0; i < kFlags.size(); ++i)
            if (auto status = plan::setKnob(row, kFlags[i], knobs[i]); !status)
                return status.error();
        auto result = evaluate(model, folder, clips, row);
        if (!result)
            return result.error();
        const auto bytes = [&](const char* key) {
            return base::bytesText(base::Bytes((*result)["plan"][key].get<std::int64_t>()));
        };
        std::printf(
            "| %s | %.2f %% | %.2f %% | %s | %s |\n", name, 100 * (*result)["wer"].get<double>(),
            100 * (*result)["cer"].get<double>(), bytes("cross_kv_bytes").c_str(),
            bytes("self_kv_bytes").c_str());
        std::fflush(stdout);
    }
    return 0;
}

} // namespace

Result<int> evalVerb(Words words) {
    const std::vector<Flag> own{
        {"--model", "FILE", "a ggml Whisper model"},
        {"--set", "DIR", "a folder with transcripts.tsv: file, split, text"},
        {"--json", "", "print all of it as JSON"},
        {"--table", "", "print accuracy against memory for the kinds of KV cache"},
        {"--help", "", "this text"}};
    const std::vector<Flag> flags = withKnobs(own);
    auto args = base::Args::parse(words, flags);
    if (!args)
        return args.error();
    if (args->has("--help")) {
        std::printf(
            "shardscope-agent eval --model FILE --set DIR [knobs] [--json | --table]\n\n"
            "Word and character error rates over a folder of clips.\n\n%s\nKnobs:\n\n%s",
            base::flagHelp(own).c_str(), knobHelp().c_str());
        return 0;
    }
    auto config = configOf(*args);
    auto model = args->required("--model"), folder = args->required("--set");
    if (!config || !model || !folder)
        return !config ? config.error() : !model ? model.error() : folder.error();
    auto clips = readList(*folder);
    if (!clips)
        return clips.error();
    if (args->has("--table"))
        return printTable(*model, *folder, *clips, *config);
    auto result = evaluate(*model, *folder, *clips, *config);
    if (!result)
        return result.error();
    if (args->has("--json")) {
        if (auto status = writeJson("-", *result); !status)
            return status.error();
        return 0;
    }
    for (const auto& [name, split] : (*result)["splits"].items())
        std::printf(
            "%-20s %3d clips  word error rate %6.2f %%  character error rate %6.2f %%\n",
            name.c_str(), split["clips"].get<int>(), 100 * split["wer"].get<double>(),
            100 * split["cer"].get<double>());
    std::printf(
        "%-20s %3d clips  word error rate %6.2f %%  character error rate %6.2f %%\n", "all",
        (*result)["clips"].get<int>(), 100 * (*result)["wer"].get<double>(),
        100 * (*result)["cer"].get<double>());
    return 0;
}

} // namespace shardscope::agent
