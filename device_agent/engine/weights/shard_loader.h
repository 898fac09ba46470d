// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "sim_engine/base/result.h"
#include "sim_engine/plan/plan.h"

namespace shardscope::engine {

/// Brings shards to their place in the arena. Every loader puts a byte at the same place: extents
/// begin on a page and keep their offset within it. To add one: a class beside this file, a value
/// of plan::Loader, and a case in chooseLoader().
///
/// All but release() is called by the I/O thread alone.
class ShardLoader {
public:
    virtual ~ShardLoader() = default;

    /// Loads that may be under way together.
    virtual std::size_t depth() const = 0;
    /// Takes a load; `place` is the begin of the shard's block. The shard must stay where it is.
    virtual void begin(const plan::Shard& shard, std::byte* place) = 0;
    /// Works at the loads that were begun. True when the oldest of them is done, and no more under
    /// way; false when there is room for further requests. After an error nothing is under way.
    virtual base::Result<bool> advance() = 0;

    /// Called when the block is about to be reused; nobody reads the shard any more.
    virtual base::Status release(const plan::Shard&, std::byte*) { return {}; }

    virtual plan::Loader kind() const = 0;
};

/// A loader that does one load after the other.
class SerialLoader : public ShardLoader {
public:
    std::size_t depth() const final { return 1; }
    void begin(const plan::Shard& shard, std::byte* place) final {
        m_shard = &shard;
        m_place = place;
    }
    base::Result<bool> advance() final {
        if (base::Status status = load(*m_shard, m_place); !status)
            return status.error();
        return true;
    }

protected:
    virtual base::Status load(const plan::Shard& shard, std::byte* place) = 0;

private:
    const plan::Shard* m_shard = nullptr;
    std::byte* m_place = nullptr;
};

} // namespace shardscope::engine
