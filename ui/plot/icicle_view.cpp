// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/icicle_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/plot/hover_card.h"
#include "ui/plot/plot_text.h"

namespace shardscope::ui {

using analyze::CostNode;
using base::Nanos;

namespace {

constexpr int kMargin = 8;
constexpr int kNarrowest = 3; ///< px below which bars are merged

QString nameOf(const CostNode& node) {
    return QString::fromStdString(node.name);
}

} // namespace

IcicleView::IcicleView(RunData* data, QWidget* parent)
    : QWidget(parent), m_data(data), m_theme(Theme::light()) {
    setObjectName(QStringLiteral("plot.icicle"));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Costs by pass, layer and op"));
    connect(m_data, &RunData::measuredChanged, this, &IcicleView::invalidate);
    connect(m_data, &RunData::predictedChanged, this, [this] {
        if (!m_data->measured())
            invalidate();
    });
    connect(m_data->time(), &TimeState::visibleChanged, this, &IcicleView::invalidate);
    connect(m_data->time(), &TimeState::selectionChanged, this, &IcicleView::invalidate);
}

void IcicleView::setTheme(const Theme& theme) {
    m_theme = theme;
    update();
}

void IcicleView::setByBytes(bool byBytes) {
    if (std::exchange(m_byBytes, byBytes) == byBytes)
        return;
    layOut();
    update();
    emit treeChanged();
}

QSize IcicleView::sizeHint() const {
    return {600, 4 * rowHeight() + 2 * kMargin};
}

int IcicleView::rowHeight() const {
    return fontMetrics().height() + 8;
}

/// While it is hidden, nobody waits for it.
void IcicleView::invalidate() {
    m_stale = true;
    if (isVisible())
        m_data->frames()->request(this, [this] { rebuild(); });
}

void IcicleView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale)
        invalidate();
}

void IcicleView::rebuild() {
    if (!isVisible() || !m_stale)
        return;
    m_stale = false;
    const trace::Trace* shown = m_data->shown();
    const TimeRange range = m_data->time()->selection().value_or(m_data->time()->visible());
    m_tree = shown ? analyze::costTree(*shown, range.begin, range.end) : CostNode();
    if (!nodeAt(m_focus))
        m_focus.clear();
    layOut();
    update();
    emit treeChanged();
}

double IcicleView::costOf(const CostNode& node) const {
    return static_cast<double>(m_byBytes ? node.bytes : node.ns);
}

const CostNode* IcicleView::nodeAt(const std::vector<std::size_t>& path) const {
    const CostNode* node = &m_tree;
    for (const std::size_t child : path) {
        if (child >= node->children.size())
            return nullptr;
        node = &node->children[child];
    }
    return node;
}

/// What is above the focus fills the width; the focus and what is in it share it by their cost.
void IcicleView::layOut() {
    m_bars.clear();
    m_hovered = -1;
    if (costOf(m_tree) <= 0)
        return;
    if (const CostNode* focus = nodeAt(m_focus); !focus || costOf(*focus) <= 0)
        m_focus.clear();
    const double left = kMargin, right = width() - kMargin;
    std::vector<std::size_t> path;
    const CostNode* node = &m_tree;
    int row = 0;
    for (const std::size_t child : m_focus) {
        m_bars.push_back(
            {QRect(kMargin, kMargin + row * rowHeight(), width() - 2 * kMargin, rowHeight() - 1),
             path, node, 0});
        path.push_back(child);
        node = &node->children[child];
        ++row;
    }
    place(*node, path, left, right, row);
}

void IcicleView::place(
    const CostNode& node, const std::vector<std::size_t>& path, double left, double right,
    int row) {
    const int from = static_cast<int>(std::lround(left));
    const int width = static_cast<int>(std::lround(right)) - from;
    const int y = kMargin + row * rowHeight();
    m_bars.push_back({QRect(from, y, std::max(1, width - 1), rowHeight() - 1), path, &node, 0});
    const double scale = (right - left) / costOf(node);
    double at = left;
    Bar merged; // neighbours that are too narrow to be told apart
    const auto flush = [&] {
        if (merged.merged > 0)
            m_bars.push_back(merged);
        merged = {};
    };
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const CostNode& child = node.children[i];
        const double end = at + costOf(child) * scale;
        if (end - at >= kNarrowest) {
            flush();
            std::vector<std::size_t> below = path;
            below.push_back(i);
            place(child, below, at, end, row + 1);
        } else if (costOf(child) > 0) {
            const int x = static_cast<int>(std::lround(merged.merged ? merged.rect.left() : at));
            merged.rect = QRect(
                QPoint(x, y + rowHeight()),
                QSize(std::max(1, static_cast<int>(std::lround(end)) - x), rowHeight() - 1));
            merged.path = path;
            merged.node = &child;
            ++merged.merged;
        }
        at = end;
    }
    flush();
}

QStringList IcicleView::path() const {
    QStringList names{nameOf(m_tree)};
    const CostNode* node = &m_tree;
    for (const std::size_t child : m_focus) {
        node = &node->children[child];
        names.append(nameOf(*node));
    }
    return names;
}

QRect IcicleView::rectOf(const std::vector<std::size_t>& path) const {
    for (const Bar& bar : m_bars)
        if (bar.path == path && bar.merged == 0)
            return bar.rect;
    return {};
}

const IcicleView::Bar* IcicleView::barAt(QPoint position) const {
    for (const Bar& bar : m_bars)
        if (bar.rect.contains(position))
            return &bar;
    return nullptr;
}

QColor IcicleView::colourOf(const Bar& bar) const {
    if (bar.merged > 1)
        return m_theme.other;
    switch (bar.node->kind) {
    case CostNode::Kind::Run:
        return m_theme.freeSpace;
    case CostNode::Kind::Pass:
        return m_theme.faint(m_theme.accent);
    case CostNode::Kind::Layer:
        return m_theme.faint(m_theme.compute);
    case CostNode::Kind::Shard:
        return m_byBytes ? m_theme.read : m_theme.stall;
    case CostNode::Kind::Op:
        break;
    }
    const trace::Trace* shown = m_data->shown();
    return shown && bar.node->id < shown->legend.ops.size()
               ? m_theme.of(shown->legend.ops[bar.node->id].kind)
               : m_theme.compute;
}

QString IcicleView::textOf(const Bar& bar) const {
    if (bar.merged > 1)
        return tr("%1 narrow ones; a click on what is above widens them").arg(bar.merged);
    const CostNode& node = *bar.node;
    const auto share = [this](const CostNode& part, const CostNode& whole) {
        return costOf(whole) > 0 ? costOf(part) / costOf(whole) * 100 : 0;
    };
    QString text = nameOf(node);
    if (node.ns > 0)
        text += QStringLiteral("\n%1 %2").arg(
            node.kind == CostNode::Kind::Shard ? tr("waited for") : tr("time"),
            spanText(Nanos(node.ns)));
    if (node.bytes > 0)
        text += tr("\nread %1").arg(bytesText(node.bytes));
    if (node.kind == CostNode::Kind::Op || node.kind == CostNode::Kind::Shard)
        text += QLatin1Char('\n') + countText(static_cast<std::uint32_t>(node.count));
    text += tr("\n%1 % of the run").arg(share(node, m_tree), 0, 'f', 1);
    if (!bar.path.empty()) {
        std::vector<std::size_t> above = bar.path;
        above.pop_back();
        if (const CostNode* parent = nodeAt(above); parent && parent != &m_tree)
            text += tr(", %1 % of %2").arg(share(node, *parent), 0, 'f', 1).arg(nameOf(*parent));
    }
    return text;
}

void IcicleView::paintBar(QPainter& painter, const Bar& bar) const {
    const QColor fill = colourOf(bar);
    painter.fillRect(bar.rect, fill);
    if (&bar == (m_hovered >= 0 ? &m_bars[static_cast<std::size_t>(m_hovered)] : nullptr)) {
        painter.setPen(m_theme.hover);
        painter.drawRect(bar.rect.adjusted(0, 0, -1, -1));
    }
    const int room = bar.rect.width() - 8;
    const QFontMetrics metrics(font());
    if (room < metrics.averageCharWidth() * 3)
        return;
    QString text = bar.merged > 1 ? QStringLiteral("+%1").arg(bar.merged) : nameOf(*bar.node);
    const QString cost = m_byBytes ? bytesText(bar.node->bytes) : spanText(Nanos(bar.node->ns));
    if (bar.merged <= 1 && metrics.horizontalAdvance(text + QStringLiteral("  ") + cost) <= room)
        text += QStringLiteral("  ") + cost;
    painter.setPen(Theme::textOn(fill));
    painter.drawText(
        bar.rect.adjusted(4, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(text, Qt::ElideRight, room));
}

void IcicleView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.background);
    painter.setFont(font());
    if (m_bars.empty()) {
        painter.setPen(m_theme.textMuted);
        painter.drawText(
            rect(), Qt::AlignCenter,
            m_data->shown() ? tr("nothing happens in this range") : tr("nothing to show yet"));
    }
    for (const Bar& bar : m_bars)
        paintBar(painter, bar);
    if (hasFocus()) {
        painter.setPen(m_theme.accent);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void IcicleView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

void IcicleView::mouseMoveEvent(QMouseEvent* event) {
    const Bar* bar = barAt(event->position().toPoint());
    const int index = bar ? static_cast<int>(bar - m_bars.data()) : -1;
    HoverCard::of(this)->show(
        m_theme, event->globalPosition().toPoint(), bar ? textOf(*bar) : QString());
    if (std::exchange(m_hovered, index) == index)
        return;
    update();
    // The same thing is marked in the charts above.
    Item item;
    if (bar && bar->merged <= 1 && bar->node->kind == CostNode::Kind::Op)
        item = {Item::Kind::Op, bar->node->id};
    if (bar && bar->merged <= 1 && bar->node->kind == CostNode::Kind::Shard &&
        bar->node->id < m_data->shown()->legend.shards.size())
        item = {Item::Kind::Shard, bar->node->id};
    m_data->time()->setHovered(item);
    if (bar)
        emit statusChanged(
            textOf(*bar).replace(QLatin1Char('\n'), QStringLiteral("  \u00b7  ")) +
            tr("  \u00b7  click widens, Backspace goes back"));
}

void IcicleView::mousePressEvent(QMouseEvent* event) {
    const Bar* bar = barAt(event->position().toPoint());
    if (event->button() == Qt::LeftButton && bar)
        focusOn(bar->path);
}

void IcicleView::leaveEvent(QEvent*) {
    HoverCard::dismiss(this);
    m_hovered = -1;
    if (m_data)
        m_data->time()->setHovered({});
    update();
}

void IcicleView::focusOn(std::vector<std::size_t> path) {
    if (path == m_focus && !path.empty())
        path.pop_back(); // a second click goes back
    m_focus = std::move(path);
    layOut();
    update();
    emit treeChanged();
}

/// Arrows go along the bars and in and out of them.
void IcicleView::keyPressEvent(QKeyEvent* event) {
    std::vector<std::size_t> path = m_focus;
    const CostNode* node = nodeAt(path);
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Backspace:
        if (!path.empty())
            path.pop_back();
        break;
    case Qt::Key_Down:
        if (node && !node->children.empty())
            path.push_back(0);
        break;
    case Qt::Key_Left:
        if (!path.empty() && path.back() > 0)
            --path.back();
        break;
    case Qt::Key_Right:
        if (!path.empty())
            ++path.back();
        break;
    default:
        return QWidget::keyPressEvent(event);
    }
    const CostNode* wanted = nodeAt(path);
    if (path != m_focus && wanted && costOf(*wanted) > 0)
        focusOn(std::move(path));
}

} // namespace shardscope::ui
