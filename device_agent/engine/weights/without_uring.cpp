// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the place of uring_loader.cpp where there is no liburing for the target.
#include "device_agent/engine/weights/open_uring.h"

namespace shardscope::engine {

base::Result<OpenedUring> openUring(const plan::Plan&, WeightFile&, const Arena&) {
    return base::Error{
        base::ErrorCode::Failed, "this agent was built without liburing", "--loader uring",
        "use --loader direct"};
}

} // namespace shardscope::engine
