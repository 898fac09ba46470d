// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/style_sheet.h"

#include <initializer_list>
#include <utility>

namespace shardscope::ui {
namespace {

// Colour names stand as @name and are replaced below.
constexpr const char* kButtons = R"(
QPushButton, QToolButton[look="button"] { background: @surface; color: @text; border: 1px solid @border; border-radius: 6px;
    padding: 5px 12px; min-height: 18px; }
QPushButton:hover { background: @raised; border-color: @muted; }
QPushButton:pressed { background: @accentSoft; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @faded; background: @window; }
QPushButton[look="primary"] { background: @accent; color: @onAccent; border-color: @accent; font-weight: 600; }
QPushButton[look="primary"]:hover { background: @accentHover; }
QPushButton[look="primary"]:disabled { background: @raised; border-color: @border; color: @faded; }
QPushButton[look="danger"] { color: @error; border-color: @error; background: @surface; }
QPushButton[look="danger"]:hover { background: @errorSoft; }
QPushButton[look="tile"] { background: @surface; border: 1px solid @border; border-radius: 10px; text-align: left; padding: 0; }
QPushButton[look="tile"]:hover { border-color: @accent; background: @surface; }
QPushButton[look="tile"]:pressed { background: @accentSoft; }
QPushButton[look="tile"]:focus { border-color: @accent; }
QPushButton[look="chip"] { background: @accentSoft; color: @accent; border: none; border-radius: 10px; padding: 2px 10px; min-height: 16px; }
QPushButton[look="chip"]:hover { background: @raised; }
QPushButton[look="segment-first"], QPushButton[look="segment"], QPushButton[look="segment-last"] { border-radius: 0; margin-left: -1px; }
QPushButton[look="segment-first"] { border-top-left-radius: 6px; border-bottom-left-radius: 6px; margin-left: 0; }
QPushButton[look="segment-last"] { border-top-right-radius: 6px; border-bottom-right-radius: 6px; }
QPushButton[look="segment-first"]:checked, QPushButton[look="segment"]:checked, QPushButton[look="segment-last"]:checked {
    background: @accentSoft; color: @accent; border-color: @accent; font-weight: 600; }
QPushButton[look="flat"], QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 4px; color: @text; }
QPushButton[look="flat"] { padding: 4px 8px; color: @accent; }
QPushButton[look="flat"]:hover, QToolButton:hover { background: @raised; }
QToolButton:checked { background: @accentSoft; color: @accent; }
QToolButton:focus { border-color: @accent; }
QToolButton::menu-indicator { image: none; }
QToolButton[look="rail"] { border-radius: 8px; padding: 7px 2px 5px 2px; color: @muted; font-size: @smallpt; }
QToolButton[look="rail"]:hover { background: @raised; color: @text; }
QToolButton[look="rail"]:checked { background: @accentSoft; color: @accent; font-weight: 600; }
)";

constexpr const char* kInputs = R"(
QLineEdit, QComboBox, QSpinBox { background: @surface; color: @text; border: 1px solid @border; border-radius: 6px;
    padding: 4px 8px; min-height: 18px; selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { border-color: @accent; }
QLineEdit:disabled, QComboBox:disabled { color: @faded; background: @window; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(@downarrow); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @surface; color: @text; border: 1px solid @border; outline: none;
    selection-background-color: @accentSoft; selection-color: @text; padding: 3px; }
QSlider::groove:horizontal { height: 4px; background: @border; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @surface; border: 2px solid @accent; width: 10px; height: 10px; margin: -5px 0;
    border-radius: 7px; }
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { background: @accent; }
QSlider::sub-page:horizontal:disabled { background: @border; }
QSlider::handle:horizontal:disabled { border-color: @border; }
QRadioButton, QCheckBox { spacing: 7px; color: @text; background: transparent; }
)";

constexpr const char* kViews = R"(
QTableView, QListView, QTreeView, QPlainTextEdit, QTextBrowser, QTextEdit { background: @surface; color: @text; border: none;
    outline: none; gridline-color: @border; alternate-background-color: @alternate;
    selection-background-color: @accentSoft; selection-color: @text; }
QTableView::item { padding: 0 8px; border: none; }
QTableView::item:selected, QListView::item:selected { background: @accentSoft; color: @text; }
QHeaderView { background: @surface; border: none; }
QHeaderView::section { background: @surface; color: @muted; border: none; border-bottom: 1px solid @border; padding: 5px 8px;
    font-weight: 500; }
QTableCornerButton::section { background: @surface; border: none; }
QScrollArea { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @scroll; border-radius: 4px; margin: 1px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QTabWidget::pane { border: none; background: @surface; }
QTabBar { background: transparent; }
QTabBar::tab { background: transparent; color: @muted; padding: 6px 12px; border: none; border-bottom: 2px solid transparent; }
QTabBar[look="narrow"]::tab { padding: 6px 8px; }
QTabBar[look="narrow"]::tab:first { margin-left: 6px; }
QTreeView[look="roomy"]::item { padding: 4px 6px; }
QProgressBar { background: @raised; border: none; border-radius: 2px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @accent; border-bottom-color: @accent; font-weight: 600; }
QTabBar::tab:disabled { color: @faded; }
)";

constexpr const char* kFrames = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QSplitter::handle { background: @border; }
QSplitter::handle:hover { background: @accent; }
QDockWidget { color: @text; font-weight: 600; }
QMenuBar { background: @window; color: @text; border-bottom: 1px solid @border; padding: 2px 6px; }
QMenuBar::item { background: transparent; padding: 4px 9px; border-radius: 5px; }
QMenuBar::item:selected { background: @raised; }
QMenu { background: @surface; color: @text; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 5px 22px 5px 12px; border-radius: 5px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @faded; }
QMenu::separator { height: 1px; background: @border; margin: 5px 6px; }
QStatusBar { background: @window; color: @muted; border-top: 1px solid @border; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; padding: 1px 6px; }
QToolTip { background: @surface; color: @text; border: 1px solid @border; padding: 4px 6px; }
QFrame[look="card"] { background: @surface; border: 1px solid @border; border-radius: 10px; }
QFrame[look="card"][hoverable="true"]:hover { border-color: @accent; }
QFrame[look="panel"], QWidget[look="panel"] { background: @surface; border: none; }
QFrame[look="rail"] { background: @window; border: none; border-right: 1px solid @border; }
QFrame[look="bar"] { background: @surface; border: none; border-bottom: 1px solid @border; }
QFrame[look="footbar"] { background: @surface; border: none; border-top: 1px solid @border; }
QDialog[look="popup"] { background: @surface; border: 1px solid @border; border-radius: 10px; }
QTreeView::item:selected { background: @accentSoft; color: @text; }
QWidget[look="docktitle"] { background: @surface; border-bottom: 1px solid @border; }
QFrame[look="line"] { background: @border; border: none; max-height: 1px; min-height: 1px; }
QFrame[look="error"] { background: @errorSoft; border: 1px solid @error; border-radius: 8px; }
QFrame[look="warning"] { background: @warningSoft; border: 1px solid @warning; border-radius: 8px; }
QFrame[look="note"] { background: @accentSoft; border: 1px solid @accent; border-radius: 8px; }
QFrame[look="error"] QLabel { color: @error; }
QFrame[look="warning"] QLabel { color: @warning; }
QFrame[look="well"] { background: @raised; border: none; border-radius: 8px; }
QFrame[look="drop"] { background: @accentSoft; border: 2px dashed @accent; border-radius: 12px; }
)";

constexpr const char* kLabels = R"(
QLabel { background: transparent; color: @text; }
QLabel[look="title"] { font-size: @titlept; font-weight: 600; }
QLabel[look="heading"] { font-size: @headpt; font-weight: 600; }
QLabel[look="section"] { font-weight: 600; }
QLabel[look="muted"] { color: @muted; }
QLabel[look="small"] { color: @muted; font-size: @smallpt; }
QLabel[look="figure"] { font-weight: 600; font-size: @headpt; }
QLabel[look="good"] { color: @good; }
QLabel[look="bad"] { color: @error; }
QLabel[look="change-good"] { color: @good; font-size: @smallpt; }
QLabel[look="change-bad"] { color: @error; font-size: @smallpt; }
QLabel[look="value"] { font-weight: 500; }
QLabel[look="key"] { background: @raised; border: 1px solid @border; border-radius: 4px; padding: 1px 6px; font-size: @smallpt; }
QLabel[look="badge"] { background: @raised; color: @muted; border-radius: 8px; padding: 1px 8px; font-size: @smallpt; }
QLabel[look="badge-good"] { background: @goodSoft; color: @good; border-radius: 8px; padding: 1px 8px; font-size: @smallpt; }
QLabel[look="badge-bad"] { background: @errorSoft; color: @error; border-radius: 8px; padding: 1px 8px; font-size: @smallpt; }
QLabel[look="badge-warning"] { background: @warningSoft; color: @warning; border-radius: 8px; padding: 1px 8px;
    font-size: @smallpt; }
)";

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto part = [share](int x, int y) {
        return static_cast<int>(x * (1 - share) + y * share);
    };
    return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

} // namespace

QString styleSheetOf(const Chrome& c, int points) {
    QString sheet = QLatin1String(kFrames) + QLatin1String(kButtons) + QLatin1String(kInputs) +
                    QLatin1String(kViews) + QLatin1String(kLabels);
    const auto set = [&sheet](const char* name, const QString& value) {
        sheet.replace(QLatin1String(name), value);
    };
    // Longer names first: "@accent" begins "@accentSoft".
    const std::initializer_list<std::pair<const char*, QColor>> colours = {
        {"@accentHover", mixed(c.accent, c.text, 0.15)},
        {"@accentSoft", c.accentSoft},
        {"@alternate", mixed(c.surface, c.raised, 0.5)},
        {"@accent", c.accent},
        {"@onAccent", c.onAccent},
        {"@surface", c.surface},
        {"@scroll", mixed(c.border, c.muted, 0.3)},
        {"@window", c.window},
        {"@raised", c.raised},
        {"@border", c.border},
        {"@muted", c.muted},
        {"@faded", mixed(c.muted, c.window, 0.45)},
        {"@text", c.text},
        {"@goodSoft", c.goodSoft},
        {"@good", c.good},
        {"@warningSoft", c.warningSoft},
        {"@warning", c.warning},
        {"@errorSoft", c.errorSoft},
        {"@error", c.error},
    };
    set("@downarrow", c.dark ? QStringLiteral(":/shardscope/icons/down-dark.svg")
                             : QStringLiteral(":/shardscope/icons/down-light.svg"));
    for (const auto& [name, colour] : colours)
        set(name, colour.name());
    set("@titlept", QStringLiteral("%1pt").arg(points + 6));
    set("@headpt", QStringLiteral("%1pt").arg(points + 2));
    set("@smallpt", QStringLiteral("%1pt").arg(points - 1));
    return sheet;
}

} // namespace shardscope::ui
