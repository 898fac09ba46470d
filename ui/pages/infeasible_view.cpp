// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/infeasible_view.h"

#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/kit/chrome.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"

namespace shardscope::ui {

/// Needed against allowed, to scale.
class InfeasibleView::Bar : public QWidget {
public:
    Bar() { setFixedHeight(74); }
    void setBytes(double needed, double allowed) {
        m_needed = needed;
        m_allowed = allowed;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        if (m_needed <= 0)
            return;
        const Chrome& c = chrome();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        const double limit = std::clamp(m_allowed / m_needed, 0.0, 1.0) * width();
        const QRectF whole(0, 26, width(), 18);
        painter.setBrush(c.accent);
        painter.drawRect(QRectF(whole.left(), whole.top(), limit, whole.height()));
        painter.setBrush(c.error);
        painter.drawRect(
            QRectF(whole.left() + limit, whole.top(), width() - limit, whole.height()));
        painter.setBrush(c.text);
        painter.drawRect(QRectF(limit - 1, whole.top() - 5, 2, whole.height() + 10));
        painter.setPen(c.text);
        const auto text = [&](const QRectF& area, Qt::Alignment align, const QString& words) {
            painter.drawText(area, static_cast<int>(align) | Qt::TextSingleLine, words);
        };
        text(QRectF(0, 0, width(), 20), Qt::AlignRight, tr("needed %1").arg(bytesText(m_needed)));
        // The word stands on the side of the mark where there is room.
        const bool leftSide = limit > 0.5 * width();
        const QRectF under(leftSide ? 0 : limit, 51, leftSide ? limit : width() - limit, 22);
        text(
            under, leftSide ? Qt::AlignRight : Qt::AlignLeft,
            tr("allowed %1").arg(bytesText(m_allowed)));
    }

private:
    double m_needed = 0, m_allowed = 0;
};

InfeasibleView::InfeasibleView(QWidget* parent)
    : QWidget(parent), m_title(label({}, "title")), m_text(label({}, "muted")), m_bar(new Bar),
      m_nearest(label({})), m_use(button(tr("Use what fits"), "primary")) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* body = new QWidget;
    body->setMaximumWidth(560);
    auto* column = new QVBoxLayout(body);
    column->setSpacing(12);
    m_text->setWordWrap(true);
    m_nearest->setWordWrap(true);
    column->addStretch(2);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addSpacing(8);
    column->addWidget(m_bar);
    column->addWidget(m_nearest);
    column->addWidget(m_use, 0, Qt::AlignLeft);
    column->addStretch(3);
    auto* row = new QHBoxLayout(this);
    row->addStretch(1);
    row->addWidget(body, 1000);
    row->addStretch(1);
    connect(m_use, &QPushButton::clicked, this, &InfeasibleView::nearestClicked);
}

void InfeasibleView::show(const plan::Infeasible& why) {
    m_title->setText(tr("These settings do not fit"));
    m_text->setText(tr("The plan needs more memory at once than the budget allows, so nothing "
                       "is run and there is nothing to draw."));
    m_bar->setBytes(why.needed.real(), why.allowed.real());
    m_bar->setVisible(true);
    m_nearest->setText(flagsText(why.nearest));
    m_nearest->setVisible(!why.nearest.empty());
    m_use->setVisible(!why.nearest.empty());
}

void InfeasibleView::showMessage(const QString& title, const QString& text) {
    m_title->setText(title);
    m_text->setText(text);
    m_bar->setVisible(false);
    m_nearest->setVisible(false);
    m_use->setVisible(false);
}

} // namespace shardscope::ui
