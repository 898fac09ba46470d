// SPDX-License-Identifier: GPL-3.0-or-later
// The verbs of the command line. Each takes the words after its name and gives the exit status, or
// the error that main() prints.
#pragma once

#include <span>
#include <string>

#include "sim_engine/base/result.h"

namespace shardscope::agent {

using Words = std::span<const std::string>;

base::Result<int> runVerb(Words words);
base::Result<int> doctorVerb(Words words);
base::Result<int> evalVerb(Words words);
base::Result<int> inspectVerb(Words words);
base::Result<int> probeVerb(Words words);
base::Result<int> quantizeVerb(Words words);
base::Result<int> serveVerb(Words words);
base::Result<int> spoolVerb(Words words);

} // namespace shardscope::agent
