// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace shardscope::app {

/// Where this user's data stands: XDG_DATA_HOME/shardscope, or another folder in tests.
struct DataPaths {
    QString root;

    static DataPaths standard();

    QString database() const { return root + QStringLiteral("/shardscope.db"); }
    QString runs() const { return root + QStringLiteral("/runs"); }
    QString recording(const QString& uuid) const;
    QString converted() const { return root + QStringLiteral("/audio"); }
};

} // namespace shardscope::app
