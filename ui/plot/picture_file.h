// SPDX-License-Identifier: GPL-3.0-or-later
// A chart written to a file, by the end of its name: .png, .svg or .pdf.
#pragma once

#include <functional>

#include <QSize>
#include <QString>

class QPainter;

namespace shardscope::ui {

/// The file dialog's filter for what savePicture() writes.
QString pictureFilter();

/// Draws into a file; `size` is in logical pixels, `scale` the pixels of a picture for each of
/// them. False where the file cannot be written or its kind is not known.
bool savePicture(
    const QString& path, const QSize& size, double scale, const QString& title,
    const std::function<void(QPainter&)>& draw);

} // namespace shardscope::ui
