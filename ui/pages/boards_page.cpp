// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/boards_page.h"

#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "sim_engine/base/format.h"
#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/models/figures.h"
#include "ui/models/runs_model.h"
#include "ui/pages/doctor_card.h"

namespace shardscope::ui {
namespace {

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

QString rate(double bytesPerSecond) {
    return text(base::rateText(bytesPerSecond));
}

QString opsText(double opsPerSecond) {
    return opsPerSecond > 0 ? BoardsPage::tr("%1 Gop/s").arg(opsPerSecond * 1e-9, 0, 'f', 2)
                            : QStringLiteral("\u2013");
}

QString nanos(double ns) {
    return text(base::timeText(base::Nanos(static_cast<std::int64_t>(ns))));
}

/// Adds a titled card with rows of a name and one or two values.
class ValueCard {
public:
    explicit ValueCard(const QString& title)
        : m_frame(frame("card")), m_grid(new QGridLayout(m_frame)) {
        m_grid->setContentsMargins(18, 14, 18, 16);
        m_grid->setHorizontalSpacing(24);
        m_grid->setVerticalSpacing(7);
        m_grid->setColumnStretch(0, 1);
        m_grid->addWidget(label(title, "section"), 0, 0, 1, 2);
    }
    void row(const QString& name, const QString& value, const QString& second = {}) {
        const int at = m_grid->rowCount();
        m_grid->addWidget(label(name, "muted"), at, 0);
        m_grid->addWidget(label(value, "value"), at, 1, Qt::AlignRight);
        if (!second.isNull())
            m_grid->addWidget(label(second, "value"), at, 2, Qt::AlignRight);
    }
    /// A sentence over the whole width.
    void note(const QString& words) {
        auto* sentence = label(words, "muted");
        sentence->setWordWrap(true);
        m_grid->addWidget(sentence, m_grid->rowCount(), 0, 1, 2);
    }
    void heads(const QString& first, const QString& second) {
        m_grid->addWidget(label(first, "small"), 1, 1, Qt::AlignRight | Qt::AlignBottom);
        m_grid->addWidget(label(second, "small"), 1, 2, Qt::AlignRight | Qt::AlignBottom);
    }
    QFrame* done() {
        m_grid->setRowStretch(m_grid->rowCount(), 1);
        m_frame->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        return m_frame;
    }

private:
    QFrame* m_frame;
    QGridLayout* m_grid;
};

} // namespace

BoardsPage::BoardsPage(QWidget* parent) : QWidget(parent), m_list(new QListWidget) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);

    auto* left = frame("panel");
    left->setFixedWidth(300);
    auto* leftColumn = new QVBoxLayout(left);
    leftColumn->setContentsMargins(0, 18, 0, 0);
    leftColumn->setSpacing(10);
    auto* title = label(tr("Boards"), "title");
    title->setContentsMargins(18, 0, 18, 0);
    leftColumn->addWidget(title);
    m_list->setObjectName(QStringLiteral("boards.list"));
    leftColumn->addWidget(m_list, 1);
    auto* add = button(tr("Add a board..."), "primary");
    add->setObjectName(QStringLiteral("boards.add"));
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(18, 6, 18, 16);
    foot->addWidget(add);
    leftColumn->addLayout(foot);
    connect(add, &QPushButton::clicked, this, &BoardsPage::addRequested);
    row->addWidget(left);
    auto* edge = frame("line");
    edge->setStyleSheet(QStringLiteral("max-width: 1px; min-width: 1px; max-height: 100000px;"));
    row->addWidget(edge);

    auto* body = new QWidget;
    body->setMaximumWidth(980);
    m_detail = new QVBoxLayout(body);
    m_detail->setContentsMargins(32, 22, 32, 24);
    auto* middle = new QWidget;
    auto* middleRow = new QHBoxLayout(middle);
    middleRow->setContentsMargins(0, 0, 0, 0);
    middleRow->addWidget(body, 1000);
    middleRow->addStretch(1);
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setWidget(middle);
    row->addWidget(area, 1);
    connect(m_list, &QListWidget::currentRowChanged, this, &BoardsPage::showBoard);
}

void BoardsPage::setBoards(QList<BoardEntry> boards) {
    m_boards = std::move(boards);
    m_list->clear();
    for (const BoardEntry& board : m_boards) {
        auto* item = new QListWidgetItem(m_list);
        auto* face = new QWidget;
        face->setAttribute(Qt::WA_TransparentForMouseEvents);
        auto* row = new QHBoxLayout(face);
        row->setContentsMargins(18, 8, 14, 8);
        row->setSpacing(12);
        row->addWidget(new IconLabel(
            QStringLiteral("boards"), board.connected ? IconTone::Good : IconTone::Muted, 22));
        auto* words = new QVBoxLayout;
        words->setSpacing(1);
        words->addWidget(label(text(board.profile.name), "value"));
        const qint64 ram = board.profile.ramTotal.value;
        const QString second = board.measured ? bytesText(double(ram)) : tr("not measured");
        words->addWidget(label(QStringLiteral("%1 \u00b7 %2").arg(board.state, second), "small"));
        row->addLayout(words, 1);
        item->setSizeHint({200, face->sizeHint().height()});
        m_list->setItemWidget(item, face);
    }
    m_list->setCurrentRow(m_boards.isEmpty() ? -1 : 0);
}

void BoardsPage::showBoard(int row) {
    delete m_shown;
    m_shown = nullptr;
    if (row < 0 || row >= m_boards.size())
        return;
    const BoardEntry& board = m_boards[row];
    m_shown = new QWidget;
    auto* column = new QVBoxLayout(m_shown);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(16);

    column->addWidget(makeHead(board));
    if (board.remote)
        column->addWidget(makeConnection(*board.remote));
    if (QWidget* doctor = board.remote ? doctorCard(board.remote->doctor) : nullptr)
        column->addWidget(doctor);
    m_fit = nullptr;
    if (board.measured) {
        column->addWidget(makeValues(board.profile));
        column->addWidget(makeFit(board.profile));
    }
    column->addStretch(1);
    m_detail->addWidget(m_shown);
    m_shownName = text(board.profile.name);
    if (board.measured)
        emit fitWanted(board.profile);
}

QWidget* BoardsPage::makeHead(const BoardEntry& board) {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* titleRow = new QHBoxLayout;
    titleRow->setSpacing(10);
    titleRow->addWidget(label(text(board.profile.name), "title"));
    titleRow->addWidget(
        label(board.state, board.connected ? "badge-good" : "badge"), 0, Qt::AlignVCenter);
    if (board.lastSeen.isValid())
        titleRow->addWidget(
            label(tr("last seen %1").arg(runDate(board.lastSeen)), "muted"), 0, Qt::AlignVCenter);
    titleRow->addStretch();
    column->addLayout(titleRow);
    auto* from = label(
        board.measured ? tr("Values from: %1").arg(text(board.profile.source))
                       : tr("Measure it, so that runs on it can be predicted."),
        "muted");
    from->setWordWrap(true);
    column->addWidget(from);
    return box;
}

QWidget* BoardsPage::makeConnection(const app::RemoteBoard& board) {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    ValueCard card(tr("Connection"));
    card.row(tr("Address"), board.address);
    card.row(tr("Key"), board.identity.isEmpty() ? tr("whatever fits") : board.identity);
    const QString unknown = tr("not known yet");
    card.row(tr("Machine"), board.machine.isEmpty() ? unknown : board.machine);
    card.row(tr("Agent"), board.agent.isEmpty() ? unknown : board.agent);
    if (!board.state.isEmpty() && board.state != QStringLiteral("ready"))
        card.note(tr("Last time: %1").arg(board.state));
    column->addWidget(card.done());
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const auto add = [&](const QString& words, const char* look, auto signal) {
        auto* b = button(words, look);
        connect(b, &QPushButton::clicked, this, [this, signal, name = board.name] {
            (this->*signal)(name);
        });
        row->addWidget(b);
    };
    add(tr("Test..."), "", &BoardsPage::testRequested);
    add(tr("Measure"), "", &BoardsPage::measureRequested);
    add(tr("Remove..."), "danger", &BoardsPage::removeRequested);
    row->addStretch();
    column->addLayout(row);
    return box;
}

QWidget* BoardsPage::makeFit(const plan::BoardProfile& board) {
    auto* card = frame("card");
    m_fit = new QGridLayout(card);
    m_fit->setContentsMargins(18, 14, 18, 16);
    m_fit->setHorizontalSpacing(20);
    m_fit->setVerticalSpacing(6);
    m_fit->setColumnStretch(0, 1);
    m_fit->addWidget(
        label(
            tr("Whisper models here, f16, in the %1 that are left")
                .arg(bytesText((board.ramTotal - board.ramReserved).real())),
            "section"),
        0, 0, 1, 7);
    const QString heads[] = {tr("weights"), tr("peak RAM"),    tr("read a token"),
                             tr("a token"), tr("encode 30 s"), {}};
    for (int i = 0; i < 6; ++i)
        m_fit->addWidget(label(heads[i], "small"), 1, i + 1, Qt::AlignRight | Qt::AlignBottom);
    m_fit->addWidget(label(tr("Planning..."), "muted"), 2, 0);
    return card;
}

void BoardsPage::showFit(const QString& board, const std::vector<FitRow>& rows) {
    if (board != m_shownName || !m_fit)
        return;
    if (QLayoutItem* waiting = m_fit->itemAtPosition(2, 0))
        delete waiting->widget();
    int at = 2;
    for (const FitRow& row : rows) {
        const auto cell = [this, at](int column, const QString& words, const char* look) {
            m_fit->addWidget(label(words, look), at, column, Qt::AlignRight | Qt::AlignVCenter);
        };
        m_fit->addWidget(label(text(row.name), "muted"), at, 0);
        cell(1, bytesText(row.weights.real()), "value");
        cell(2, bytesText(row.peak.real()), row.fits ? "value" : "bad");
        const QString none = QStringLiteral("\u2013");
        cell(
            3,
            !row.fits            ? none
            : row.streamed.value ? bytesText(row.streamed.real())
                                 : tr("nothing"),
            "value");
        cell(4, row.fits ? msText(row.summary.decodeMsPerToken) : none, "value");
        cell(5, row.fits ? msText(row.summary.encodeMs) : tr("does not fit"), "value");
        auto* plan = button(tr("Plan"), "flat");
        plan->setObjectName(QStringLiteral("boards.plan.") + text(row.name));
        const QString card = QStringLiteral("card:") + text(row.name);
        connect(plan, &QPushButton::clicked, this, [this, board, card] {
            emit planRequested(board, card);
        });
        m_fit->addWidget(plan, at, 6, Qt::AlignRight);
        ++at;
    }
}

QWidget* BoardsPage::makeValues(const plan::BoardProfile& b) const {
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(16);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);

    ValueCard machine(tr("Machine"));
    machine.row(tr("Processor"), text(b.cpu));
    machine.row(tr("Cores"), tr("%1, of which %2 fast").arg(b.cores).arg(b.fastCores));
    machine.row(tr("RAM"), bytesText(b.ramTotal.real()));
    machine.row(tr("Held by the system"), bytesText(b.ramReserved.real()));
    machine.row(tr("Left for a model"), bytesText((b.ramTotal - b.ramReserved).real()));
    grid->addWidget(machine.done(), 0, 0);

    ValueCard storage(tr("Storage"));
    storage.note(text(b.storage));
    storage.row(tr("Large reads"), rate(b.readBytesPerSecond));
    storage.row(tr("Fixed cost of a read"), nanos(b.readLatencyNs));
    storage.row(tr("Page fault"), nanos(b.pageFaultNs));
    storage.row(tr("Compute lost while reading"), tr("%1 %").arg(b.overlap * 100, 0, 'f', 0));
    grid->addWidget(storage.done(), 0, 1);

    ValueCard ops(tr("Kernels, one thread"));
    ops.heads(tr("f32"), tr("narrower"));
    for (std::size_t kind = 0; kind < model::kOpKindCount; ++kind) {
        const auto kindName = model::opKindName(static_cast<model::OpKind>(kind));
        const QString name = QString::fromUtf8(kindName.data(), qsizetype(kindName.size()));
        ops.row(
            QString(name).replace(QLatin1Char('_'), QLatin1Char(' ')),
            opsText(b.opsPerSecond[kind][0]), opsText(b.opsPerSecond[kind][1]));
    }
    grid->addWidget(ops.done(), 1, 0);

    ValueCard memory(tr("Memory and threads"));
    memory.row(tr("Read bandwidth, one thread"), rate(b.memoryBytesPerSecond));
    memory.row(tr("All fast cores"), rate(b.memoryBytesPerSecond * b.memoryScale));
    memory.row(
        tr("Gain of each further core"), tr("%1 %").arg(b.threadEfficiency * 100, 0, 'f', 0));
    memory.row(tr("Hand-off of an op"), nanos(b.opFixedNs));
    grid->addWidget(memory.done(), 1, 1);
    return box;
}

} // namespace shardscope::ui
