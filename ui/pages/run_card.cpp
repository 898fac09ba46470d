// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/run_card.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"
#include "ui/models/runs_model.h"

namespace shardscope::ui {
namespace {

/// The picture fills its place; its aspect may give way a little.
class Thumbnail : public QWidget {
public:
    explicit Thumbnail(const QByteArray& png) {
        m_picture.loadFromData(png, "PNG");
        setFixedHeight(84);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        if (!m_picture.isNull())
            return painter.drawPixmap(rect(), m_picture);
        ui::icon(QStringLiteral("results"), IconTone::Muted)
            .paint(&painter, QRect(rect().center() - QPoint(14, 14), QSize(28, 28)));
    }

private:
    QPixmap m_picture;
};

QLabel* badgeOf(app::RunState state) {
    switch (state) {
    case app::RunState::Done:
        return nullptr;
    case app::RunState::Failed:
        return label(RunCard::tr("failed"), "badge-bad");
    case app::RunState::Running:
        return label(RunCard::tr("running"), "badge-good");
    case app::RunState::Stopped:
        return label(RunCard::tr("stopped"), "badge-warning");
    default:
        return label(RunCard::tr("partial"), "badge-warning");
    }
}

QWidget* fact(const QString& name, const QString& value) {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(label(name, "small"));
    column->addWidget(label(value, "value"));
    return box;
}

} // namespace

RunCard::RunCard(const app::RunRecord& run, QWidget* parent) : TileButton(parent) {
    setObjectName(QStringLiteral("start.run"));
    setAccessibleName(tr("Open run %1").arg(shortModelName(run.model)));
    content()->setSpacing(6);
    add(new Thumbnail(run.thumbnail));
    add(line());

    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 2, 0, 0);
    auto* name = new ElidedLabel(shortModelName(run.model));
    name->setProperty("look", "value");
    row->addWidget(name, 1);
    if (QLabel* badge = badgeOf(run.state))
        row->addWidget(badge);
    if (run.starred) {
        row->addWidget(new IconLabel(QStringLiteral("star-full"), IconTone::Warning, 16));
    }
    add(head);
    auto* where =
        new ElidedLabel(QStringLiteral("%1 \u00b7 %2").arg(run.board, runDate(run.started)));
    where->setProperty("look", "small");
    add(where);

    auto* facts = new QWidget;
    auto* factRow = new QHBoxLayout(facts);
    factRow->setContentsMargins(0, 2, 0, 0);
    factRow->setSpacing(20);
    factRow->addWidget(
        fact(tr("Peak"), run.peakBytes ? bytesText(double(run.peakBytes)) : tr("\u2013")));
    factRow->addWidget(
        fact(tr("Per token"), run.msPerToken > 0 ? msText(run.msPerToken) : tr("\u2013")));
    factRow->addWidget(fact(tr("Total"), run.totalMs > 0 ? msText(run.totalMs) : tr("\u2013")));
    factRow->addStretch();
    add(facts);
}

} // namespace shardscope::ui
