// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/chrome.h"

#include <QApplication>
#include <QFont>
#include <QFontDatabase>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>

#include "ui/kit/style_sheet.h"

// Resources in a static library are not registered by themselves; the macro wants no namespace.
static void registerResources() {
    Q_INIT_RESOURCE(resources);
}

namespace shardscope::ui {
namespace {

Chrome makeLight() {
    Chrome c;
    c.window = "#f4f6f8";
    c.surface = "#ffffff";
    c.raised = "#f0f3f6";
    c.border = "#d9dfe6";
    c.text = "#1a2430";
    c.muted = "#586575";
    c.accent = "#2b66c9";
    c.onAccent = "#ffffff";
    c.accentSoft = "#e4edfb";
    c.good = "#1b7246";
    c.goodSoft = "#e3f3ea";
    c.warning = "#8a5300";
    c.warningSoft = "#fdf1dc";
    c.error = "#b3261e";
    c.errorSoft = "#fcebea";
    return c;
}

Chrome makeDark() {
    Chrome c;
    c.dark = true;
    c.window = "#14181d";
    c.surface = "#1b2027";
    c.raised = "#252c35";
    c.border = "#333c47";
    c.text = "#e3e8ee";
    c.muted = "#9ba7b5";
    c.accent = "#76a9f5";
    c.onAccent = "#0d1622";
    c.accentSoft = "#223552";
    c.good = "#6cc996";
    c.goodSoft = "#1c3529";
    c.warning = "#eab464";
    c.warningSoft = "#3a2f1b";
    c.error = "#ff9087";
    c.errorSoft = "#3d2426";
    return c;
}

Chrome& current() {
    static Chrome colours = Chrome::lightChrome();
    return colours;
}

QPalette paletteOf(const Chrome& c) {
    QPalette p;
    p.setColor(QPalette::Window, c.window);
    p.setColor(QPalette::WindowText, c.text);
    p.setColor(QPalette::Base, c.surface);
    p.setColor(QPalette::AlternateBase, c.raised);
    p.setColor(QPalette::Text, c.text);
    p.setColor(QPalette::Button, c.raised);
    p.setColor(QPalette::ButtonText, c.text);
    p.setColor(QPalette::BrightText, c.error);
    p.setColor(QPalette::Highlight, c.accent);
    p.setColor(QPalette::HighlightedText, c.onAccent);
    p.setColor(QPalette::ToolTipBase, c.surface);
    p.setColor(QPalette::ToolTipText, c.text);
    p.setColor(QPalette::PlaceholderText, c.muted);
    p.setColor(QPalette::Link, c.accent);
    p.setColor(QPalette::LinkVisited, c.accent);
    p.setColor(QPalette::Light, c.surface);
    p.setColor(QPalette::Midlight, c.raised);
    p.setColor(QPalette::Mid, c.border);
    p.setColor(QPalette::Dark, c.muted);
    p.setColor(QPalette::Shadow, c.dark ? QColor("#000000") : c.muted);
    QColor faded = c.muted;
    faded.setAlpha(140);
    for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, faded);
    return p;
}

bool desktopIsDark() {
    // Qt 6.4 has no colour scheme hint: the desktop's own palette is the hint.
    static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return dark;
}

} // namespace

const Chrome& Chrome::lightChrome() {
    static const Chrome colours = makeLight();
    return colours;
}

const Chrome& Chrome::darkChrome() {
    static const Chrome colours = makeDark();
    return colours;
}

const Chrome& chrome() {
    return current();
}

QString bundledFontFamily() {
    static const QString family = [] {
        registerResources();
        QString name;
        for (const char* weight : {"Regular", "Medium", "SemiBold"}) {
            const int id = QFontDatabase::addApplicationFont(
                QStringLiteral(":/shardscope/fonts/Inter-%1.otf").arg(QLatin1String(weight)));
            const QStringList families = QFontDatabase::applicationFontFamilies(id);
            if (name.isEmpty() && !families.isEmpty())
                name = families.front();
        }
        return name;
    }();
    return family;
}

void applyChrome(QApplication& app, ThemeChoice choice, int points) {
    const bool dark =
        choice == ThemeChoice::Dark || (choice == ThemeChoice::Auto && desktopIsDark());
    current() = dark ? Chrome::darkChrome() : Chrome::lightChrome();
    QFont font(bundledFontFamily());
    font.setPointSize(points);
    font.setStyleStrategy(QFont::PreferAntialias);
    font.setHintingPreference(QFont::PreferNoHinting);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(font);
    QApplication::setPalette(paletteOf(current()));
    app.setStyleSheet(styleSheetOf(current(), points));
}

} // namespace shardscope::ui
