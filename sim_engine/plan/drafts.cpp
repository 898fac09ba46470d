// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim_engine/plan/drafts.h"

#include <algorithm>

namespace shardscope::plan {
namespace {

RunConfig reduced(RunConfig config) {
    const RunConfig defaults;
    config.budget = defaults.budget;
    config.pin = defaults.pin;
    config.policy = defaults.policy;
    config.slotCount = defaults.slotCount;
    config.loader = defaults.loader;
    config.emulateRead = defaults.emulateRead;
    return config;
}

unsigned bitsOf(const model::Thrift& t) {
    return (t.scratch ? 1u : 0u) | (t.stem ? 2u : 0u) | (t.attention ? 4u : 0u) | (t.mlp ? 8u : 0u);
}

} // namespace

std::shared_ptr<const Draft> Drafts::find(const RunConfig& config, const model::Thrift& thrift) {
    const RunConfig key = reduced(config);
    const unsigned bits = bitsOf(thrift);
    const std::lock_guard lock(m_mutex);
    const auto known = std::find_if(m_known.begin(), m_known.end(), [&](const Known& k) {
        return k.thrift == bits && k.config == key;
    });
    if (known == m_known.end())
        return nullptr;
    std::rotate(m_known.begin(), known, known + 1);
    return m_known.front().draft;
}

void Drafts::keep(
    const RunConfig& config, const model::Thrift& thrift, std::shared_ptr<const Draft> draft) {
    Known known{reduced(config), bitsOf(thrift), std::move(draft)};
    const std::lock_guard lock(m_mutex);
    m_known.push_front(std::move(known));
    if (m_known.size() > m_most)
        m_known.pop_back();
}

} // namespace shardscope::plan
