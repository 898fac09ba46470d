// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/verbs.h"

#include <algorithm>
#include <array>

#include "app/cli/terminal.h"

namespace shardscope::app {

namespace {

constexpr std::array<Verb, 9> kVerbs{{
    {"plan", "--model M --board B [knobs]", "Does this model fit this board, and what is the peak?",
     planManual, planVerb},
    {"simulate", "--model M --board B [knobs]",
     "How fast would it run, where would it wait? Nothing is run.", simulateManual, simulateVerb},
    {"sweep", "--model M --board B [--over KNOB]",
     "What one knob does, value by value: a table and a picture.", sweepManual, sweepVerb},
    {"tune", "--model M --board B [knobs]", "Which settings are best, for each amount of memory?",
     tuneManual, tuneVerb},
    {"run", "--board local|USER@HOST --model M --audio A [knobs]",
     "Runs the model, records every event, keeps the run.", runManual, runRunVerb},
    {"validate", "--model M [--board B] [--grid FILE]",
     "Are the predictions true? Runs a grid, predicts each from the others.", validateManual,
     validateVerb},
    {"calibrate", "RUN... -o FILE", "Fits a board's profile to runs that were measured on it.",
     calibrateManual, calibrateVerb},
    {"runs", "list|show|compare|export|import|delete", "The runs that were kept.", runsManual,
     runsVerb},
    {"boards", "list|show|add|test|probe|doctor|remove",
     "Boards: presets, this machine, and those reached over SSH.", boardsManual, boardsVerb},
}};

bool asksForHelp(const Words& words) {
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "--help" || word == "-h";
    });
}

} // namespace

std::span<const Verb> verbs() {
    return kVerbs;
}

const Verb* findVerb(std::string_view name) {
    const auto found =
        std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& v) { return v.name == name; });
    return found == kVerbs.end() ? nullptr : &*found;
}

int runVerb(const Words& words) {
    const Verb* verb = words.empty() ? nullptr : findVerb(words.front());
    if (!verb)
        return fail(unknownWord(words.empty() ? std::string() : words.front()));
    const Words rest(words.begin() + 1, words.end());
    if (asksForHelp(rest)) {
        print(verb->manual());
        return 0;
    }
    return verb->run(rest);
}

base::Error unknownWord(const std::string& word) {
    std::string known;
    for (const Verb& verb : kVerbs)
        known += (known.empty() ? "" : ", ") + std::string(verb.name);
    return {
        base::ErrorCode::Usage, "this is neither a verb nor a file", word,
        "the verbs are " + known + "; see `shardscope --help`"};
}

std::string programHelp() {
    std::string text =
        "Shardscope: Whisper and LLMs on boards with too little RAM.\n\n"
        "  shardscope                      opens the window\n"
        "  shardscope FILE                 opens a recording (.sst)\n"
        "  shardscope --demo               runs the sample on an emulated small board; without a\n"
        "                                  display it prints what was heard and the figures\n"
        "  shardscope --snapshot DIR       draws every page to PNG files and exits\n\n"
        "Without a window:\n\n";
    Table table;
    for (const Verb& verb : kVerbs)
        table.add({"  shardscope " + std::string(verb.name), std::string(verb.help)});
    text += table.text();
    text += "\nStart here:\n\n"
            "  shardscope simulate --model card:whisper-tiny.en --board v851s-512m-nand "
            "--budget 48MiB\n"
            "  shardscope run --board local --model M.bin --audio talk.mp3 --budget 48MiB\n"
            "  shardscope runs list\n\n"
            "`shardscope VERB --help` tells more of each.\n"
            "Exit status: 0 done, 2 usage, 3 does not fit the budget, 4 bad input file, 5 failed\n"
            "while running, 6 no connection. An error is one line on stderr.\n";
    return text;
}

} // namespace shardscope::app
