// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_delegate.h"

#include <QPainter>

#include "ui/kit/chrome.h"
#include "ui/kit/icon.h"
#include "ui/models/runs_model.h"

namespace shardscope::ui {
namespace {

constexpr int kPad = 10;

QFont smaller(QFont font) {
    font.setPointSizeF(font.pointSizeF() - 1);
    return font;
}

} // namespace

QRect RunsDelegate::starRect(const QRect& row) {
    return {row.right() - 32, row.top() + 4, 28, 26};
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const bool tagged = !index.data(RunsModel::TagsRole).toStringList().isEmpty();
    const int small = QFontMetrics(smaller(option.font)).height();
    const int lines =
        QFontMetrics(option.font).height() + (tagged ? 3 : 2) * small + (tagged ? 2 : 0);
    return {120, lines + 2 * 8 + 4};
}

void RunsDelegate::paint(
    QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Chrome& c = chrome();
    painter->save();
    const QRect row = option.rect;
    if (option.state & QStyle::State_Selected) {
        painter->fillRect(row, c.accentSoft);
        painter->fillRect(QRect(row.left(), row.top(), 3, row.height()), c.accent);
    } else if (option.state & QStyle::State_MouseOver) {
        painter->fillRect(row, c.raised);
    }
    painter->setPen(c.border);
    painter->drawLine(row.left() + kPad, row.bottom(), row.right() - kPad, row.bottom());

    QFont bold = option.font;
    bold.setWeight(QFont::Medium);
    const QFont small = smaller(option.font);
    const auto drawLine = [&](int& y, const QFont& font, const QColor& colour, const QString& text,
                              int right) {
        const QFontMetrics metrics(font);
        const QRect area(row.left() + kPad + 2, y, right - row.left() - kPad - 2, metrics.height());
        painter->setFont(font);
        painter->setPen(colour);
        painter->drawText(
            area, Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(
                text, &font == &bold ? Qt::ElideMiddle : Qt::ElideRight, area.width()));
        y += metrics.height() + 2;
    };
    int y = row.top() + 8;
    drawLine(y, bold, c.text, index.data().toString(), starRect(row).left() - 2);
    drawLine(y, small, c.muted, index.data(RunsModel::SubtitleRole).toString(), row.right() - kPad);
    drawLine(y, small, c.text, index.data(RunsModel::FactsRole).toString(), row.right() - kPad);
    if (const auto tags = index.data(RunsModel::TagsRole).toStringList(); !tags.isEmpty())
        drawLine(y, small, c.accent, tags.join(QStringLiteral("  \u00b7  ")), row.right() - kPad);

    const bool starred = index.data(RunsModel::StarredRole).toBool();
    if (starred || option.state & (QStyle::State_MouseOver | QStyle::State_Selected)) {
        const QRect star(starRect(row).center() - QPoint(8, 8), QSize(16, 16));
        icon(
            starred ? QStringLiteral("star-full") : QStringLiteral("star"),
            starred ? IconTone::Warning : IconTone::Muted)
            .paint(painter, star);
    }
    painter->restore();
}

} // namespace shardscope::ui
