// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "device_agent/agent/trim_process.h"
#include "device_agent/agent/verbs.h"

namespace {

using shardscope::agent::Words;
using shardscope::base::Error;
using shardscope::base::ErrorCode;
using shardscope::base::Result;

struct Verb {
    std::string_view name;
    std::string_view help;
    Result<int> (*run)(Words);
};

constexpr std::array<Verb, 8> kVerbs{{
    {"run", "run a model over an audio file as its plan says", shardscope::agent::runVerb},
    {"eval", "measure word and character error rates over a folder of clips",
     shardscope::agent::evalVerb},
    {"inspect", "show what a model file holds", shardscope::agent::inspectVerb},
    {"probe", "measure this machine: a board profile", shardscope::agent::probeVerb},
    {"doctor", "tell what on this machine would hurt a run, and its mend",
     shardscope::agent::doctorVerb},
    {"quantize", "write a model with quantised weights", shardscope::agent::quantizeVerb},
    {"serve", "speak with the desktop on standard input and output", shardscope::agent::serveVerb},
    {"spool", "perform a run that outlives its link; serve starts this",
     shardscope::agent::spoolVerb},
}};

int help() {
    std::puts("shardscope-agent: runs Whisper models that do not fit into memory, and tells where\n"
              "memory and time go.\n");
    for (const Verb& v : kVerbs)
        std::printf(
            "  shardscope-agent %-8.*s  %.*s\n", static_cast<int>(v.name.size()), v.name.data(),
            static_cast<int>(v.help.size()), v.help.data());
    std::puts(
        "\n`shardscope-agent VERB --help` tells the flags of a verb.\n"
        "Exit status: 0 done, 2 usage, 3 does not fit the budget, 4 bad input file, 5 failed.");
    return 0;
}

int report(const Error& error) {
    std::fprintf(stderr, "shardscope-agent: %s\n", error.line().c_str());
    return static_cast<int>(error.code);
}

} // namespace

int main(int argc, char** argv) {
    shardscope::agent::useOneHeap();
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of write(), told in words
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words[0] == "--help" || words[0] == "-h")
        return help();
    if (words[0] == "--version")
        return std::puts("shardscope-agent " SHARDSCOPE_VERSION), 0;
    for (const Verb& v : kVerbs)
        if (v.name == words[0]) {
            const Result<int> status = v.run(Words(words).subspan(1));
            return status ? *status : report(status.error());
        }
    return report(
        {ErrorCode::Usage, "there is no such verb", words[0], "see shardscope-agent --help"});
}
