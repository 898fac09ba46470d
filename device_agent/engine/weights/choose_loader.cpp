// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/choose_loader.h"

#include "device_agent/engine/weights/direct_loader.h"
#include "device_agent/engine/weights/map_loader.h"
#include "device_agent/engine/weights/open_uring.h"
#include "device_agent/engine/weights/pread_loader.h"

namespace shardscope::engine {
namespace {

using plan::Loader;

ChosenLoader direct(WeightFile& file, std::string reason) {
    auto fd = file.directDescriptor();
    if (fd)
        return {std::make_unique<DirectLoader>(file, *fd), std::move(reason)};
    const std::string refused = "pread instead of direct: " + fd.error().what;
    return {
        std::make_unique<PreadLoader>(file), reason.empty() ? refused : reason + "; " + refused};
}

ChosenLoader uring(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    auto loader = openUring(plan, file, arena);
    if (loader)
        return {std::move(*loader), {}};
    return direct(file, "direct instead of uring: " + loader.error().what);
}

} // namespace

ChosenLoader chooseLoader(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    switch (plan.config.loader) {
    case Loader::Mmap:
    case Loader::Populate:
        return {std::make_unique<MapLoader>(file, plan.config.loader == Loader::Populate), {}};
    case Loader::Direct:
        return direct(file, {});
    case Loader::Uring:
        return uring(plan, file, arena);
    case Loader::Auto:
    case Loader::Pread:
        break;
    }
    return {std::make_unique<PreadLoader>(file), {}};
}

} // namespace shardscope::engine
