// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/kit/icon.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

#include "ui/kit/chrome.h"

namespace shardscope::ui {
namespace {

QColor colourOf(IconTone tone) {
    const Chrome& c = chrome();
    switch (tone) {
    case IconTone::Text:
        return c.text;
    case IconTone::Muted:
        return c.muted;
    case IconTone::Accent:
        return c.accent;
    case IconTone::OnAccent:
        return c.onAccent;
    case IconTone::Warning:
        return c.warning;
    case IconTone::Error:
        return c.error;
    case IconTone::Good:
        return c.good;
    }
    return c.text;
}

class LineIconEngine : public QIconEngine {
public:
    LineIconEngine(const QString& name, IconTone tone) : m_name(name), m_tone(tone) {
        QFile file(QStringLiteral(":/shardscope/icons/%1.svg").arg(name));
        if (file.open(QIODevice::ReadOnly))
            m_svg = file.readAll();
    }

    void
    paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        QColor colour = state == QIcon::On ? chrome().accent : colourOf(m_tone);
        if (mode == QIcon::Disabled)
            colour.setAlpha(90);
        QByteArray svg = m_svg;
        svg.replace("currentColor", colour.name().toUtf8());
        QSvgRenderer renderer(svg);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setOpacity(colour.alphaF());
        renderer.render(painter, QRectF(rect));
        painter->restore();
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap map(size);
        map.fill(Qt::transparent);
        QPainter painter(&map);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return map;
    }

    QIconEngine* clone() const override { return new LineIconEngine(*this); }

private:
    QString m_name;
    IconTone m_tone;
    QByteArray m_svg;
};

} // namespace

QIcon icon(const QString& name, IconTone tone) {
    return QIcon(new LineIconEngine(name, tone));
}

} // namespace shardscope::ui
