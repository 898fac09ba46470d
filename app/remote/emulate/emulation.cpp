// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/emulate/emulation.h"

#include <algorithm>
#include <unistd.h>

#include "sim_engine/base/format.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;

namespace {

bool isSoftAsked() {
    return qEnvironmentVariable("SHARDSCOPE_EMULATE") == QLatin1String("soft");
}

} // namespace

std::shared_ptr<Emulation> Emulation::prepare(
    const plan::BoardProfile& board, const std::optional<plan::BoardProfile>& local,
    const QString& model, plan::RunConfig& config, const CgroupRoots& roots) {
    std::shared_ptr<Emulation> run(new Emulation);
    run->m_board = QString::fromStdString(board.name);
    plan::BoardProfile here = local.value_or(plan::BoardProfile());
    if (!local)
        here.cores = here.fastCores = static_cast<std::int32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    run->m_limits = emulationLimits(board, here);
    if (local)
        run->m_profile = emulatedProfile(board, *local, run->m_limits);
    else
        run->m_processorBy = QStringLiteral("nothing: this machine was not measured");
    if (config.threads == 0)
        config.threads = run->m_limits.threads;
    if (!isSoftAsked()) {
        run->m_box = CgroupBox::create(run->m_limits, model, !config.emulateRead, roots);
        run->m_memoryBy = run->m_box->memoryBy();
        run->m_readsBy = run->m_box->readsBy();
        if (!run->m_box->processorBy().isEmpty())
            run->m_processorBy = run->m_box->processorBy();
    }
    run->holdSoftly(config);
    return run;
}

/// What no group holds.
void Emulation::holdSoftly(plan::RunConfig& config) {
    if (m_memoryBy.isEmpty()) {
        config.budget = std::min(config.budget.value_or(m_limits.memory), m_limits.memory);
        m_memoryBy = QStringLiteral("--budget (soft)");
    }
    if (m_readsBy.isEmpty()) {
        m_readsBy = config.emulateRead ? QStringLiteral("--emulate-read, as given")
                                       : QStringLiteral("--emulate-read (soft)");
        if (!config.emulateRead)
            config.emulateRead =
                base::Bytes(static_cast<std::int64_t>(m_limits.readBytesPerSecond));
        m_limits.readBytesPerSecond = config.emulateRead->real();
    }
    if (m_processorBy.isEmpty())
        m_processorBy = m_limits.cores > 0
                            ? QStringLiteral("--threads alone (soft): the cores are not slowed")
                            : QStringLiteral("nothing: this machine is no faster");
}

Json Emulation::toJson() const {
    Json memory{{"limit_bytes", m_limits.memory.value}, {"by", m_memoryBy.toStdString()}};
    if (const auto peak = m_box ? m_box->memoryPeak() : std::nullopt; peak && peak->value > 0)
        memory["peak_bytes"] = peak->value;
    return {
        {"board", m_board.toStdString()},
        {"memory", std::move(memory)},
        {"reads", {{"bytes_per_s", m_limits.readBytesPerSecond}, {"by", m_readsBy.toStdString()}}},
        {"processor", {{"cores", m_limits.cores}, {"by", m_processorBy.toStdString()}}},
        {"threads", m_limits.threads}};
}

QString Emulation::words() const {
    const std::string cores = m_limits.cores > 0
                                  ? base::formatted("%.3f cores of this machine", m_limits.cores)
                                  : std::string("as it is");
    return QStringLiteral("emulating %1: memory %2 by %3; reads %4 by %5; processor %6 by %7")
        .arg(
            m_board, QString::fromStdString(base::bytesText(m_limits.memory)), m_memoryBy,
            QString::fromStdString(base::rateText(m_limits.readBytesPerSecond)), m_readsBy,
            QString::fromStdString(cores), m_processorBy);
}

} // namespace shardscope::app
