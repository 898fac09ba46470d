// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot/picture_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace shardscope::ui {
namespace {

constexpr int kDotsPerInch = 96; ///< what a logical pixel is to SVG and PDF

bool saveSvg(
    const QString& path, const QSize& size, const QString& title,
    const std::function<void(QPainter&)>& draw) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setResolution(kDotsPerInch);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(0, 0), size));
    svg.setTitle(title);
    QPainter painter(&svg);
    draw(painter);
    return painter.end() && file.flush();
}

bool savePdf(
    const QString& path, const QSize& size, const QString& title,
    const std::function<void(QPainter&)>& draw) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    QPdfWriter pdf(&file);
    pdf.setResolution(kDotsPerInch);
    pdf.setTitle(title);
    const QSizeF inches = QSizeF(size) / kDotsPerInch;
    pdf.setPageSize(QPageSize(inches, QPageSize::Inch, {}, QPageSize::ExactMatch));
    pdf.setPageMargins({});
    QPainter painter(&pdf);
    draw(painter);
    return painter.end() && file.flush();
}

} // namespace

QString pictureFilter() {
    return QCoreApplication::translate("picture", "Pictures (*.png *.svg *.pdf)");
}

bool savePicture(
    const QString& path, const QSize& size, double scale, const QString& title,
    const std::function<void(QPainter&)>& draw) {
    const QString end = QFileInfo(path).suffix().toLower();
    if (end == QLatin1String("svg"))
        return saveSvg(path, size, title, draw);
    if (end == QLatin1String("pdf"))
        return savePdf(path, size, title, draw);
    if (end != QLatin1String("png"))
        return false;
    QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    draw(painter);
    painter.end();
    return image.save(path, "PNG");
}

} // namespace shardscope::ui
