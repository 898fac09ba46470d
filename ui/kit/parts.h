// SPDX-License-Identifier: GPL-3.0-or-later
// Small parts that pages share.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QString>

#include "ui/kit/icon.h"

class QVBoxLayout;

namespace shardscope::ui {

/// A label in one of the looks of style_sheet.h.
QLabel* label(const QString& text, const char* look = "", QWidget* parent = nullptr);

/// Gives a widget another look and has it drawn so.
void setLook(QWidget* widget, const char* look);

/// A frame in one of the looks ("card", "panel", "bar", "well").
QFrame* frame(const char* look, QWidget* parent = nullptr);

/// A hairline.
QFrame* line(QWidget* parent = nullptr);

QPushButton* button(const QString& text, const char* look = "", QWidget* parent = nullptr);

/// Fills a page with one column that scrolls, in its middle and no wider than `most`.
QVBoxLayout* centreOn(QWidget* page, int most, int top);

/// A card that says why there is nothing here and what to do.
QFrame* emptyCard(const QString& iconName, const QString& title, const QString& text);

class IconLabel;

/// An error or a hint inline on a page: icon, text that wraps and can be copied, a close button.
class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);
    /// Shows the text; hides the banner for an empty one.
    void showError(const QString& text);
    void showNote(const QString& text);
    QString text() const { return m_text->text(); }

private:
    void show(const QString& text, const char* look, const char* iconName);

    IconLabel* m_icon;
    QLabel* m_text;
};

/// An icon that follows the theme.
class IconLabel : public QWidget {
    Q_OBJECT
public:
    IconLabel(const QString& name, IconTone tone, int size, QWidget* parent = nullptr);
    void show(const QString& name, IconTone tone);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QIcon m_icon;
};

/// A label that ends in "..." where there is no room; the whole text is its tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    void setFullText(const QString& text);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_full;
};

} // namespace shardscope::ui
