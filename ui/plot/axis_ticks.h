// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks at round times and round binary sizes.
#pragma once

#include <qcustomplot.h>

namespace shardscope::ui {

/// Ticks of an axis in ns, about as many as setTickCount() says.
class TimeTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    double m_step = 1;
    double m_largest = 1;
};

/// Ticks of an axis in bytes, about as many as setTickCount() says.
class ByteTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    double m_step = 1;
    double m_largest = 1;
};

} // namespace shardscope::ui
