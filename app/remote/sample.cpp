// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/sample.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace shardscope::app {

namespace {

// A 29 MiB model in 18 MiB, read at twice what SPI-NAND gives: it streams and waits, and is still
// done within seconds.
constexpr base::Bytes kDemoBudget = base::mebibytes(18);
constexpr base::Bytes kDemoRead(60'000'000);
constexpr int kLevelsUp = 4; // from build/<preset>/bin to the source tree, and one to spare

} // namespace

base::Result<QString> resourceFile(const QString& name) {
    QStringList places;
    if (const QString told = qEnvironmentVariable("SHARDSCOPE_RESOURCES"); !told.isEmpty())
        places.append(told);
    QDir folder(QCoreApplication::applicationDirPath());
    places.append(folder.filePath(QStringLiteral("../share/shardscope")));
    for (int level = 0; level < kLevelsUp; ++level) {
        places.append(folder.filePath(QStringLiteral("resources")));
        folder.setPath(QDir::cleanPath(folder.filePath(QStringLiteral(".."))));
    }
    for (const QString& place : places)
        if (const QFileInfo file(place + QLatin1Char('/') + name); file.isFile())
            return QDir::cleanPath(file.absoluteFilePath());
    return base::Error{
        base::ErrorCode::BadInput, "the sample file is not there", name.toStdString(),
        "set SHARDSCOPE_RESOURCES to the folder `resources` of the source tree"};
}

base::Result<RunOrder> demoOrder() {
    auto model = resourceFile(QStringLiteral("models/sample-whisper-commands.en.bin"));
    if (!model)
        return model.error();
    auto audio = resourceFile(QStringLiteral("clips/syn-007.wav"));
    if (!audio)
        return audio.error();
    RunOrder order;
    order.model = *model;
    order.audio = *audio;
    order.config.budget = kDemoBudget;
    order.config.emulateRead = kDemoRead;
    return order;
}

} // namespace shardscope::app
