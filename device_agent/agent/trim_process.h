// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace shardscope::agent {

/// Gives back what reading the model's header and planning left behind: the heap that is free
/// again, and the pages of program code, of which a run needs a part that comes back by itself from
/// the page cache. Call it when a run is ready to start. Does nothing where the system cannot.
void trimProcess();

/// For the begin of the program: one heap for all threads. The run's own threads allocate next to
/// nothing, and a heap each would cost memory.
void useOneHeap();

} // namespace shardscope::agent
