// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/choose_loader.h"

#include <algorithm>

#include "device_agent/engine/weights/direct_loader.h"
#include "device_agent/engine/weights/map_loader.h"
#include "device_agent/engine/weights/open_uring.h"
#include "device_agent/engine/weights/page_cache.h"
#include "device_agent/engine/weights/pread_loader.h"

namespace shardscope::engine {
namespace {

using base::Bytes;
using plan::Loader;

/// Of the file: what counts as all of it being in the page cache.
constexpr double kWarmShare = 0.95;

bool staysResident(const plan::Plan& plan) {
    return std::all_of(
        plan.shards.begin(), plan.shards.end(), [](const plan::Shard& s) { return s.pinned; });
}

class Chooser {
public:
    Chooser(
        const plan::Plan& plan, WeightFile& file, const Arena& arena, std::optional<Bytes> freeRam)
        : m_plan(plan), m_file(file), m_arena(arena), m_cache(choosePageCache(plan, freeRam)),
          m_wanted(plan.config.loader) {}

    ChosenLoader choose() {
        switch (m_wanted) {
        case Loader::Mmap:
        case Loader::Populate:
            map();
            break;
        case Loader::Pread:
            pread("as asked");
            break;
        case Loader::Direct:
            direct();
            break;
        case Loader::Uring:
            uring();
            break;
        case Loader::Auto:
            if (staysResident(m_plan) && cachedShare(m_file) >= kWarmShare)
                pread("auto: all weights stay resident, and the file is in the page cache");
            else
                uring();
            break;
        }
        return std::move(m_chosen);
    }

private:
    void map() {
        cached(std::make_unique<MapLoader>(m_file, m_wanted == Loader::Populate, m_cache));
        m_chosen.reason = "as asked";
    }
    void pread(std::string reason) {
        cached(std::make_unique<PreadLoader>(m_file, m_cache));
        m_chosen.reason = std::move(reason);
    }
    /// A loader that reads through the page cache.
    void cached(std::unique_ptr<ShardLoader> loader) {
        m_chosen.loader = std::move(loader);
        if (m_cache.use != CacheUse::Keep) {
            m_chosen.notes.push_back(m_cache.reason);
            m_file.readNoFurther();
        }
        if (m_cache.use == CacheUse::Nothing)
            m_file.leaveNoPages();
    }
    void direct() {
        const auto fd = m_file.directDescriptor();
        if (!fd) {
            m_chosen.notes.push_back("pread instead of direct: " + fd.error().what);
            return pread(reasonOf(""));
        }
        m_chosen.loader = std::make_unique<DirectLoader>(m_file, *fd);
        m_chosen.readsPastCache = true;
        m_chosen.reason = reasonOf("auto: an aligned O_DIRECT read works here");
    }
    void uring() {
        auto opened = openUring(m_plan, m_file, m_arena);
        if (!opened) {
            m_chosen.notes.push_back("direct instead of uring: " + opened.error().what);
            return direct();
        }
        if (!opened->note.empty())
            m_chosen.notes.push_back(opened->note);
        m_chosen.loader = std::move(opened->loader);
        m_chosen.readsPastCache = true;
        m_chosen.reason = reasonOf("auto: an aligned O_DIRECT read through io_uring works here");
    }
    /// The fall-backs are the reason where there are any.
    std::string reasonOf(const char* ofAuto) const {
        std::string text;
        for (const std::string& note : m_chosen.notes)
            text += (text.empty() ? "" : "; ") + note;
        return !text.empty() ? text : m_wanted == Loader::Auto ? ofAuto : "as asked";
    }

    const plan::Plan& m_plan;
    WeightFile& m_file;
    const Arena& m_arena;
    CacheChoice m_cache;
    Loader m_wanted;
    ChosenLoader m_chosen;
};

} // namespace

ChosenLoader chooseLoader(
    const plan::Plan& plan, WeightFile& file, const Arena& arena, std::optional<Bytes> freeRam) {
    return Chooser(plan, file, arena, freeRam).choose();
}

} // namespace shardscope::engine
