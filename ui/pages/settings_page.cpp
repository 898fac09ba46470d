// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/settings_page.h"

#include <QApplication>
#include <QButtonGroup>
#include <QComboBox>
#include <QDesktopServices>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

QVBoxLayout* cardInto(QVBoxLayout* column, const QString& title, QWidget* content) {
    auto* card = frame("card");
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(20, 16, 20, 18);
    inside->setSpacing(12);
    inside->addWidget(label(title, "section"));
    inside->addWidget(content);
    column->addWidget(card);
    return inside;
}

QGridLayout* gridIn(QWidget* box) {
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(12);
    grid->setColumnMinimumWidth(0, 150);
    grid->setColumnStretch(2, 1);
    return grid;
}

} // namespace

SettingsPage::SettingsPage(UiSettings* settings, const QString& dataFolder, QWidget* parent)
    : QWidget(parent), m_settings(settings), m_theme(new QButtonGroup(this)),
      m_points(new QComboBox) {
    auto* body = new QWidget;
    body->setMaximumWidth(760);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(32, 22, 32, 24);
    column->setSpacing(16);
    column->addWidget(label(tr("Settings"), "title"));
    cardInto(column, tr("Appearance"), makeAppearance());
    cardInto(column, tr("Data"), makeData(dataFolder));
    cardInto(column, tr("About"), makeAbout());
    column->addStretch();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(body, 1000);
    row->addStretch(1);
    refresh();
}

QWidget* SettingsPage::makeAppearance() {
    auto* box = new QWidget;
    auto* grid = gridIn(box);
    grid->addWidget(label(tr("Theme"), "muted"), 0, 0);
    auto* themes = new QHBoxLayout;
    themes->setSpacing(0);
    const QString names[] = {tr("As the desktop"), tr("Light"), tr("Dark")};
    const char* looks[] = {"segment-first", "segment", "segment-last"};
    for (int i = 0; i < 3; ++i) {
        auto* choice = button(names[i], looks[i]);
        choice->setCheckable(true);
        m_theme->addButton(choice, i);
        themes->addWidget(choice);
    }
    grid->addLayout(themes, 0, 1);
    grid->addWidget(label(tr("Text size"), "muted"), 1, 0);
    for (int points = 8; points <= 14; ++points)
        m_points->addItem(tr("%1 pt").arg(points), points);
    m_points->setFixedWidth(90);
    m_points->setObjectName(QStringLiteral("settings.points"));
    grid->addWidget(m_points, 1, 1, Qt::AlignLeft);
    grid->addWidget(label(tr("Panels"), "muted"), 2, 0);
    auto* restore = button(tr("Restore default layout"));
    grid->addWidget(restore, 2, 1, Qt::AlignLeft);
    connect(restore, &QPushButton::clicked, this, &SettingsPage::restoreLayoutClicked);
    connect(m_theme, &QButtonGroup::idClicked, this, [this](int id) {
        m_settings->setTheme(static_cast<ThemeChoice>(id));
        emit appearanceChanged();
    });
    connect(m_points, &QComboBox::activated, this, [this] {
        m_settings->setFontPoints(m_points->currentData().toInt());
        emit appearanceChanged();
    });
    return box;
}

QWidget* SettingsPage::makeData(const QString& folder) {
    auto* box = new QWidget;
    auto* grid = gridIn(box);
    grid->addWidget(label(tr("Data folder"), "muted"), 0, 0, Qt::AlignTop);
    auto* path = label(folder, "value");
    path->setWordWrap(true);
    path->setTextInteractionFlags(Qt::TextSelectableByMouse);
    path->setObjectName(QStringLiteral("settings.folder"));
    grid->addWidget(path, 0, 1, 1, 2);
    auto* words =
        label(tr("Runs, boards and recordings are kept there, and nowhere else."), "muted");
    words->setWordWrap(true);
    grid->addWidget(words, 1, 1, 1, 2);
    auto* open = button(tr("Open folder"));
    connect(open, &QPushButton::clicked, this, [folder] {
        QDesktopServices::openUrl(QUrl::fromLocalFile(folder));
    });
    grid->addWidget(open, 2, 1, Qt::AlignLeft);
    return box;
}

QWidget* SettingsPage::makeAbout() {
    auto* box = new QWidget;
    auto* grid = gridIn(box);
    grid->addWidget(label(tr("Version"), "muted"), 0, 0);
    grid->addWidget(label(QApplication::applicationVersion(), "value"), 0, 1);
    grid->addWidget(label(tr("Licence"), "muted"), 1, 0);
    grid->addWidget(label(tr("GPL-3.0-or-later"), "value"), 1, 1);
    grid->addWidget(label(tr("Font"), "muted"), 2, 0);
    grid->addWidget(label(tr("Inter, SIL Open Font License 1.1"), "value"), 2, 1);
    return box;
}

void SettingsPage::refresh() {
    const QSignalBlocker quiet(m_points);
    m_points->setCurrentIndex(m_points->findData(m_settings->fontPoints()));
    m_theme->button(static_cast<int>(m_settings->theme()))->setChecked(true);
}

} // namespace shardscope::ui
