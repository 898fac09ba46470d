// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sim_engine/plan/board_profile.h"
#include "sim_engine/plan/residence.h"

namespace shardscope::plan {

/// The least read that wastes no more than 2 % of its time: a read of s bytes costs t0 + s / W, so
/// t0 * W / 0.02, as a power of two from 64 KiB to 64 MiB. `limit` bytes per second hold the device
/// back, if it is not 0. For RunConfig::usefulRead.
base::Bytes usefulReadOf(const BoardProfile& board, double limit = 0);

/// `config` with the useful read of a board whose storage was measured, where it says none.
RunConfig withUsefulRead(RunConfig config, const BoardProfile& board);

/// Makes one shard, and so one request, of shards that stream one after the other and are
/// neighbours in the file, where one of them is a read of fewer bytes than useful. It takes no
/// memory: a merged shard is never larger than the slots, which are as large as the largest shard
/// that streams. No fewer shards stay than the slots can take turns with. Shards of the decoder are
/// merged where the config says what is useful, and not under policies that keep shards by their
/// use.
///
/// `plan` has its shards; ids in `fitted` and in the plan are made anew.
void mergeReads(Plan& plan, Fitted& fitted);

} // namespace shardscope::plan
