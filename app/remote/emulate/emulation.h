// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "app/remote/emulate/cgroup_box.h"

namespace shardscope::app {

/// One run of the local agent as if on a board. Where the system does not permit control groups, or
/// SHARDSCOPE_EMULATE=soft is in the environment, the engine's own limits take their place:
/// --budget for memory, --emulate-read for reads, fewer threads for the processor.
class Emulation {
public:
    /// Decides what holds the run, makes the groups, and changes `config` where the engine is to
    /// hold itself. `local` is this machine as it was measured; without it the processor is not
    /// slowed.
    static std::shared_ptr<Emulation> prepare(
        const plan::BoardProfile& board, const std::optional<plan::BoardProfile>& local,
        const QString& model, plan::RunConfig& config, const CgroupRoots& roots = {});

    /// What is in the page cache was charged to others: the run would read it for nothing.
    bool beginsCold() const { return m_box && !m_box->readsBy().isEmpty(); }

    /// {"board", "memory": {"limit_bytes", "by"}, "reads": {"bytes_per_s", "by"}, "processor":
    /// {"cores", "by"}, "threads"}; after the run also {"memory": {"peak_bytes"}}.
    nlohmann::ordered_json toJson() const;
    /// The same as one line for people.
    QString words() const;
    /// What is predicted for such a run; none where this machine was not measured.
    const std::optional<plan::BoardProfile>& profile() const { return m_profile; }

    /// For a child between fork and exec.
    bool enter() const noexcept { return !m_box || m_box->enter(); }
    /// The kernel killed the run for the board's memory.
    bool isKilledForMemory() const { return m_box && m_box->oomKills() > 0; }
    base::Bytes memoryLimit() const { return m_limits.memory; }

private:
    Emulation() = default;
    void holdSoftly(plan::RunConfig& config);

    QString m_board;
    EmulationLimits m_limits;
    std::optional<plan::BoardProfile> m_profile;
    std::unique_ptr<CgroupBox> m_box;
    QString m_memoryBy, m_readsBy, m_processorBy;
};

} // namespace shardscope::app
