// SPDX-License-Identifier: GPL-3.0-or-later
// The verbs of `shardscope`: each takes the words after it and returns an exit status.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim_engine/base/args.h"

namespace shardscope::app {

using Words = std::vector<std::string>;

/// One verb; the table of them feeds dispatch and help.
struct Verb {
    std::string_view name;
    std::string_view usage; ///< what follows the name
    std::string_view help;  ///< one sentence
    std::string (*manual)();
    int (*run)(const Words& words);
};

std::span<const Verb> verbs();
const Verb* findVerb(std::string_view name);

/// Runs `words` (the first is the verb): help where it is asked for, else the verb itself. Needs a
/// QCoreApplication.
int runVerb(const Words& words);
/// The help of the whole program.
std::string programHelp();
/// The one error for a first word that is neither a verb nor a file.
base::Error unknownWord(const std::string& word);

int planVerb(const Words& words);
int simulateVerb(const Words& words);
int sweepVerb(const Words& words);
int tuneVerb(const Words& words);
int runRunVerb(const Words& words);
int runsVerb(const Words& words);
int boardsVerb(const Words& words);
int validateVerb(const Words& words);
int calibrateVerb(const Words& words);

std::string planManual();
std::string simulateManual();
std::string sweepManual();
std::string tuneManual();
std::string runManual();
std::string runsManual();
std::string boardsManual();
std::string validateManual();
std::string calibrateManual();

} // namespace shardscope::app
