// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/run_record.h"

#include <QFileInfo>

#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

void describe(RunRecord& record, const RunContent& content) {
    const auto fileName = [](const std::string& path) {
        return QFileInfo(QString::fromStdString(path)).fileName();
    };
    const analyze::Summary figures = content.summary();
    if (content.card())
        record.model = fileName(content.card()->name);
    if (!content.board().name.empty())
        record.board = QString::fromStdString(content.board().name);
    if (record.audio.isEmpty())
        record.audio = fileName(content.audio());
    record.state = content.ending();
    record.config = plan::toJson(content.config());
    record.result = content.recording().result;
    record.planHash = QString::fromStdString(content.trace().legend.planHash);
    record.budgetBytes = content.config().budget ? content.config().budget->value : 0;
    record.peakBytes = figures.arenaPeak;
    record.tokens = static_cast<qint64>(figures.tokens.size());
    record.msPerToken = figures.decodeMsPerToken;
    record.totalMs = figures.totalMs;
    record.text = QString::fromStdString(content.text()).trimmed(); // models begin with a space
    if (content.error())
        record.errorLine = QString::fromStdString(content.error()->line());
}

} // namespace shardscope::app
