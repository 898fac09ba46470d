// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks at round times and round binary sizes.
#pragma once

#include <qcustomplot.h>

namespace shardscope::ui {

/// A tick step of 1, 2 or 5 times a power of ten that is not below `least`.
double roundStep(double least);
/// A step that is round in B, KiB, MiB or GiB and not below `least`.
double roundByteStep(double least);
/// The label of a tick at `t` ns: all ticks of an axis have one unit and as many digits as their
/// step needs.
QString timeTickText(double t, double step, double largest);
/// The label of a tick at `bytes`.
QString byteTickText(double bytes, double step, double largest);

/// Ticks of an axis in ns.
class TimeTicker : public QCPAxisTicker {
public:
    explicit TimeTicker(double ticks) : m_ticks(ticks) {}

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    double m_ticks;
    double m_step = 1;
    double m_largest = 1;
};

/// Ticks of an axis in bytes.
class ByteTicker : public QCPAxisTicker {
public:
    explicit ByteTicker(double ticks) : m_ticks(ticks) {}

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    double m_ticks;
    double m_step = 1;
    double m_largest = 1;
};

} // namespace shardscope::ui
