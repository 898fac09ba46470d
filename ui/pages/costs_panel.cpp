// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/costs_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/kit/chrome.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"
#include "ui/plot/icicle_view.h"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr int kShareWidth = 110;
constexpr int kShareRole = Qt::UserRole + 1;
enum Column { What, Cost, Share };

/// A bar behind the number, as long as its share.
class HeatDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index)
        const override {
        const double share = index.data(kShareRole).toDouble();
        QRect bar = option.rect.adjusted(4, 4, -4, -4);
        bar.setLeft(bar.right() - static_cast<int>(share * bar.width()));
        painter->fillRect(bar, chrome().accentSoft);
        QStyledItemDelegate::paint(painter, option, index);
    }
};

QString kindText(analyze::CostNode::Kind kind) {
    return kind == analyze::CostNode::Kind::Shard ? CostsPanel::tr("A shard that was read")
                                                  : CostsPanel::tr("An op that was computed");
}

} // namespace

CostsPanel::CostsPanel(RunData* data, QWidget* parent)
    : QWidget(parent), m_data(data), m_icicle(new IcicleView(data)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeTools());
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_icicle, 3);
    m_list = makeList();
    row->addWidget(m_list, 2);
    column->addLayout(row, 1);
    connect(m_icicle, &IcicleView::treeChanged, this, &CostsPanel::showList);
    connect(m_icicle, &IcicleView::statusChanged, this, &CostsPanel::statusChanged);
    connect(m_cost, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_icicle->setByBytes(index == 1);
    });
}

QWidget* CostsPanel::makeTools() {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(12, 6, 12, 6);
    row->setSpacing(8);
    m_cost = new QComboBox;
    m_cost->setObjectName(QStringLiteral("costs.by"));
    m_cost->setAccessibleName(tr("Cost"));
    m_cost->addItem(tr("Time"));
    m_cost->addItem(tr("Bytes read"));
    m_about = label({}, "muted");
    m_about->setObjectName(QStringLiteral("costs.about"));
    row->addWidget(m_cost);
    row->addWidget(m_about, 1);
    return box;
}

QTreeWidget* CostsPanel::makeList() {
    auto* list = new QTreeWidget;
    list->setObjectName(QStringLiteral("costs.list"));
    list->setAccessibleName(tr("What costs most"));
    list->setColumnCount(3);
    list->setHeaderLabels({tr("What costs most"), tr("Cost"), tr("Share")});
    list->setRootIsDecorated(false);
    list->setUniformRowHeights(true);
    list->setProperty("look", "roomy");
    list->setItemDelegateForColumn(Share, new HeatDelegate(list));
    list->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list->header()->setSectionResizeMode(What, QHeaderView::Stretch);
    list->header()->setSectionResizeMode(Share, QHeaderView::Fixed);
    list->header()->resizeSection(Share, kShareWidth);
    list->header()->setStretchLastSection(false);
    for (const int i : {Cost, Share})
        list->headerItem()->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    return list;
}

void CostsPanel::showList() {
    const analyze::CostNode& tree = m_icicle->tree();
    const bool byBytes = m_icicle->byBytes();
    const double all = static_cast<double>(byBytes ? tree.bytes : tree.ns);
    m_list->clear();
    double most = 0;
    for (const analyze::CostNode& leaf : analyze::heaviestLeaves(tree, byBytes, kMostRows)) {
        const double cost = static_cast<double>(byBytes ? leaf.bytes : leaf.ns);
        most = std::max(most, cost);
        auto* item = new QTreeWidgetItem(m_list);
        const QString name = QString::fromStdString(leaf.name);
        const bool isWait = !byBytes && leaf.kind == analyze::CostNode::Kind::Shard;
        item->setText(What, isWait ? tr("wait for %1").arg(name) : name);
        item->setToolTip(What, kindText(leaf.kind));
        item->setText(Cost, byBytes ? bytesText(cost) : msText(cost * 1e-6));
        item->setText(Share, QStringLiteral("%1 %").arg(cost / all * 100, 0, 'f', 1));
        item->setData(Share, kShareRole, cost / most);
        for (const int i : {Cost, Share})
            item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    }
    const TimeState* time = m_data->time();
    m_about->setText(
        all <= 0            ? tr("Nothing in this range.")
        : time->selection() ? tr("Of the selected range.")
        : !time->showsAll() ? tr("Of what is visible.")
                            : m_icicle->path().join(QStringLiteral(" \u203a ")));
}

void CostsPanel::setTheme(const Theme& theme) {
    m_icicle->setTheme(theme);
}

} // namespace shardscope::ui
