// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/store/data_paths.h"

#include <QStandardPaths>

namespace shardscope::app {

DataPaths DataPaths::standard() {
    // GenericDataLocation, since the AppData one doubles the name when an organisation is set.
    return {
        QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
        QStringLiteral("/shardscope")};
}

QString DataPaths::recording(const QString& uuid) const {
    return runs() + QLatin1Char('/') + uuid + QStringLiteral(".sst");
}

} // namespace shardscope::app
