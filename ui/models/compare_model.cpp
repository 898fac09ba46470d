// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/compare_model.h"

#include <QColor>
#include <QFont>

#include "sim_engine/plan/knobs.h"
#include "ui/kit/chrome.h"

namespace shardscope::ui {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& result, const char* group, const char* key) {
    if (!result.is_object())
        return 0;
    const auto part = result.find(group);
    if (part == result.end() || !part->is_object())
        return 0;
    const auto value = part->find(key);
    return value != part->end() && value->is_number() ? value->get<double>() : 0;
}

std::int64_t whole(const Json& result, const char* group, const char* key) {
    return static_cast<std::int64_t>(number(result, group, key));
}

QString knobText(const plan::Knob& knob, const Json& config) {
    const auto parsed = plan::configFromJson(config.is_object() ? config : Json::object());
    return parsed ? QString::fromStdString(knob.print(*parsed)) : QString();
}

} // namespace

analyze::Summary summaryOfResult(const Json& result) {
    analyze::Summary s;
    s.melMs = number(result, "timing", "mel_ms");
    s.encodeMs = number(result, "timing", "encode_ms");
    s.crossKvMs = number(result, "timing", "cross_kv_ms");
    s.firstTokenMs = number(result, "timing", "first_token_ms");
    s.decodeMsPerToken = number(result, "timing", "decode_ms_per_token");
    s.totalMs = number(result, "timing", "total_ms");
    s.arenaPeak = whole(result, "memory", "arena_peak_bytes");
    s.rssPeak = whole(result, "memory", "rss_peak_bytes");
    s.bytesRead = whole(result, "io", "bytes_read");
    s.reads = whole(result, "io", "reads");
    s.readMs = number(result, "io", "read_ms");
    s.stallMs = number(result, "io", "stall_ms");
    s.hiddenFraction = number(result, "io", "hidden_fraction");
    return s;
}

CompareModel::CompareModel(QObject* parent) : QAbstractTableModel(parent) {}

void CompareModel::setRuns(const app::RunRecord* first, const app::RunRecord* second) {
    beginResetModel();
    m_rows.clear();
    if (first && second) {
        m_rows.push_back({tr("Figures"), {}, {}, {}, 0, true});
        const auto a = allFigures(summaryOfResult(first->result));
        const auto b = allFigures(summaryOfResult(second->result));
        for (std::size_t i = 0; i < a.size(); ++i) {
            const QString change = b[i].changeFrom(a[i]);
            m_rows.push_back(
                {a[i].name, a[i].text(), b[i].text(), change.isEmpty() ? tr("same") : change,
                 b[i].verdict(a[i]), false});
        }
        m_rows.push_back({tr("Settings"), {}, {}, {}, 0, true});
        for (const plan::Knob& knob : plan::knobs()) {
            const QString was = knobText(knob, first->config), is = knobText(knob, second->config);
            if (was != is)
                m_rows.push_back(
                    {QString::fromUtf8(knob.label.data(), qsizetype(knob.label.size())), was, is,
                     tr("changed"), 0, false});
        }
        if (m_rows.back().section)
            m_rows.push_back({tr("All settings are equal"), {}, {}, {}, 0, false});
    }
    endResetModel();
}

int CompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CompareModel::data(const QModelIndex& index, int role) const {
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Name:
            return row.name;
        case First:
            return row.first;
        case Second:
            return row.second;
        default:
            return row.change;
        }
    case Qt::TextAlignmentRole:
        return static_cast<int>(
            Qt::AlignVCenter | (index.column() == Name ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::FontRole:
        if (row.section) {
            QFont bold;
            bold.setWeight(QFont::DemiBold);
            return bold;
        }
        return {};
    case Qt::ForegroundRole:
        if (index.column() == Change)
            return row.verdict < 0   ? chrome().good
                   : row.verdict > 0 ? chrome().error
                                     : chrome().muted;
        return {};
    case VerdictRole:
        return row.verdict;
    case SectionRole:
        return row.section;
    default:
        return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            Qt::AlignVCenter | (section == Name ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[] = {
        QT_TR_NOOP(""), QT_TR_NOOP("First"), QT_TR_NOOP("Second"), QT_TR_NOOP("Change")};
    return section == Name ? QString() : tr(kNames[section]);
}

} // namespace shardscope::ui
