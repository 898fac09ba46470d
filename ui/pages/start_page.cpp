// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/start_page.h"

#include <QAction>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/kit/icon.h"
#include "ui/kit/parts.h"
#include "ui/kit/tile_button.h"
#include "ui/pages/run_card.h"

namespace shardscope::ui {
namespace {

constexpr int kColumns = 3;
constexpr int kMostRuns = 12;
constexpr int kWidth = 1080;

TileButton* way(QAction* action, const char* iconName, const QString& title, const QString& text) {
    auto* tile = new TileButton;
    tile->setObjectName(QStringLiteral("start.") + action->objectName());
    tile->setAccessibleName(title);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    tile->setSizePolicy(policy);
    tile->add(new IconLabel(QLatin1String(iconName), IconTone::Accent, 26));
    tile->content()->addSpacing(4);
    tile->add(label(title, "heading"));
    auto* sentence = label(text, "muted");
    sentence->setWordWrap(true);
    sentence->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    tile->add(sentence);
    tile->content()->setStretch(3, 1);
    QObject::connect(tile, &QPushButton::clicked, action, &QAction::trigger);
    return tile;
}

} // namespace

StartPage::StartPage(const ActionTable& actions, RunsModel* runs, QWidget* parent)
    : QWidget(parent), m_runs(runs), m_banner(new Banner) {
    QVBoxLayout* column = centreOn(this, kWidth, 36);
    column->setSpacing(18);
    column->addWidget(makeHead());
    column->addWidget(m_banner);
    column->addWidget(makeWays(actions));

    auto* headRow = new QHBoxLayout;
    headRow->setContentsMargins(0, 14, 0, 0);
    headRow->addWidget(label(tr("Recent runs"), "heading"));
    headRow->addStretch();
    m_count = label({}, "muted");
    headRow->addWidget(m_count);
    column->addLayout(headRow);

    m_cards = new QWidget;
    m_grid = new QGridLayout(m_cards);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(16);
    column->addWidget(m_cards);
    m_empty = makeEmpty();
    column->addWidget(m_empty);
    column->addStretch();

    connect(m_runs, &QAbstractItemModel::modelReset, this, &StartPage::showRuns);
    showRuns();
}

QWidget* StartPage::makeHead() {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    auto* mark = new QLabel;
    mark->setPixmap(QIcon(QStringLiteral(":/shardscope/icons/shardscope.svg")).pixmap(52, 52));
    row->addWidget(mark);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(label(tr("Shardscope"), "title"));
    words->addWidget(
        label(tr("See where memory and time go when a model is larger than the board."), "muted"));
    row->addLayout(words, 1);
    return box;
}

QWidget* StartPage::makeWays(const ActionTable& actions) {
    auto* box = new QWidget;
    box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    row->addWidget(
        way(actions.action("run.sample"), "play", tr("Run the sample"),
            tr("A small speech model on an emulated small board, live, with its prediction.")),
        1);
    row->addWidget(
        way(actions.action("file.open_model"), "open", tr("Open model..."),
            tr("Plan and run a whisper.cpp model file (.bin).")),
        1);
    row->addWidget(
        way(actions.action("file.open_recording"), "recording", tr("Open recording..."),
            tr("Replay a run that was saved as .sst.")),
        1);
    return box;
}

QWidget* StartPage::makeEmpty() {
    auto* box = emptyCard(
        QStringLiteral("results"), tr("No runs yet"),
        tr("Run the sample to see one, or drop a model or a recording here."));
    box->setObjectName(QStringLiteral("start.empty"));
    return box;
}

void StartPage::showRuns() {
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const auto& runs = m_runs->runs();
    const int shown = std::min(static_cast<int>(runs.size()), kMostRuns);
    for (int i = 0; i < shown; ++i) {
        auto* card = new RunCard(runs[i]);
        card->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
        const QString uuid = runs[i].uuid;
        connect(card, &QPushButton::clicked, this, [this, uuid] { emit runOpened(uuid); });
        m_grid->addWidget(card, i / kColumns, i % kColumns);
    }
    for (int column = 0; column < kColumns; ++column)
        m_grid->setColumnStretch(column, 1);
    m_cards->setVisible(shown > 0);
    m_empty->setVisible(shown == 0);
    const qsizetype all = runs.size();
    m_count->setText(all == 0 ? QString() : all == 1 ? tr("1 run") : tr("%1 runs").arg(all));
}

} // namespace shardscope::ui
