// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace shardscope::agent {

/// Gives back the free heap that reading the model's header and planning left behind. Does nothing
/// where the system cannot.
void releaseFreeHeap();

/// Lets go of the pages of program code. What is in use comes back by itself from the page cache,
/// in some microseconds; what ran once, and what the system mapped around it, does not.
void releaseCode();

/// For the begin of the program: one heap for all threads. The run's own threads allocate next to
/// nothing, and a heap each would cost memory.
void useOneHeap();

} // namespace shardscope::agent
