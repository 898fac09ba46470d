// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a sweep, as SVG text: three charts of bars over the values of the knob.
#include <algorithm>
#include <cmath>
#include <optional>

#include "app/replay/knob_sweep.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::formatted;

namespace {

constexpr double kPanelWidth = 360, kPlotHeight = 250, kLeft = 56, kTop = 112, kGap = 30;
constexpr double kWidth = 3 * kPanelWidth + 4 * kGap, kHeight = kTop + kPlotHeight + 76;
constexpr const char* kInk = "#1f2933";
constexpr const char* kFaint = "#66727f";
constexpr const char* kLine = "#e3e8ee";

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '&')
            safe += "&amp;";
        else
            safe += c;
    }
    return safe;
}

std::string textAt(
    double x, double y, const std::string& text, const char* anchor, int size, const char* colour,
    bool bold = false) {
    return formatted(
               "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\"%s>", x,
               y, anchor, size, colour, bold ? " font-weight=\"600\"" : "") +
           escaped(text) + "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, const char* colour) {
    return formatted(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\" fill=\"%s\"/>\n", x,
        y, width, std::max(height, 0.0), colour);
}

/// The step between ticks: 1, 2 or 5 times a power of ten, about five of them.
double tickStep(double most) {
    const double rough = most / 5, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (rough <= step * power)
            return step * power;
    return 10 * power;
}

/// Three figures, as short as can be read.
std::string figure(double value) {
    const int digits = value == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    std::string text = formatted("%.*f", digits, value);
    while (digits > 0 && text.ends_with('0'))
        text.pop_back();
    if (text.ends_with('.'))
        text.pop_back();
    return text;
}

std::string tickText(double value, double step) {
    const int digits = static_cast<int>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9)));
    return formatted("%.*f", digits, value);
}

/// One kind of bar: a value a row, none where it does not fit.
struct Series {
    std::string name;
    const char* colour;
    std::vector<std::optional<double>> values;
};

struct Chart {
    std::string title;
    std::string unit;
    std::vector<Series> series;
};

std::vector<std::optional<double>> valuesOf(const Sweep& sweep, double (*value)(const SweepRow&)) {
    std::vector<std::optional<double>> values;
    for (const SweepRow& row : sweep.rows)
        values.push_back(row.feasible ? std::optional(value(row)) : std::nullopt);
    return values;
}

/// Draws one chart with its left edge at `x`.
class Panel {
public:
    Panel(const Chart& chart, const Sweep& sweep, double x)
        : m_chart(chart), m_sweep(sweep), m_left(x + kLeft), m_right(x + kPanelWidth) {
        for (const Series& series : chart.series)
            for (const auto& value : series.values)
                m_most = std::max(m_most, value.value_or(0));
        if (m_most <= 0)
            m_most = 1;
        m_step = tickStep(m_most);
        m_most = m_step * std::ceil(m_most / m_step + 0.12); // room for the figures over the bars
    }

    std::string svg() const { return head() + axis() + bars(); }

private:
    double y(double value) const { return kTop + kPlotHeight * (1 - value / m_most); }

    std::string head() const {
        std::string svg =
            textAt(m_left - kLeft + 8, kTop - 34, m_chart.title, "start", 14, kInk, true) +
            textAt(m_left - kLeft + 8, kTop - 16, m_chart.unit, "start", 12, kFaint);
        double at = m_right;
        if (m_chart.series.size() > 1)
            for (auto s = m_chart.series.rbegin(); s != m_chart.series.rend(); ++s) {
                svg += textAt(at, kTop - 16, s->name, "end", 12, kFaint);
                at -= 6.6 * static_cast<double>(s->name.size()) + 16;
                svg += rectangle(at, kTop - 26, 11, 11, s->colour);
                at -= 12;
            }
        return svg;
    }

    std::string axis() const {
        std::string svg;
        for (double value = 0; value <= m_most * 1.0001; value += m_step) {
            svg += formatted(
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", m_left,
                y(value), m_right, y(value), value == 0 ? "#9aa5b1" : kLine);
            svg += textAt(m_left - 8, y(value) + 4, tickText(value, m_step), "end", 12, kFaint);
        }
        return svg + textAt(
                         (m_left + m_right) / 2, kTop + kPlotHeight + 44,
                         std::string(m_sweep.knob->label), "middle", 12, kFaint);
    }

    std::string bars() const {
        const auto rows = static_cast<double>(m_sweep.rows.size());
        const auto count = static_cast<double>(m_chart.series.size());
        const double place = (m_right - m_left) / rows;
        const double width = std::min(42.0, place * (count > 1 ? 0.9 : 0.72) / count);
        std::string svg;
        for (std::size_t i = 0; i < m_sweep.rows.size(); ++i) {
            const double middle = m_left + place * (static_cast<double>(i) + 0.5);
            svg +=
                textAt(middle, kTop + kPlotHeight + 20, m_sweep.rows[i].value, "middle", 12, kInk);
            for (std::size_t s = 0; s < m_chart.series.size(); ++s) {
                const auto value = m_chart.series[s].values[i];
                const double x = middle + width * (static_cast<double>(s) - count / 2);
                if (!value) {
                    if (s == 0)
                        svg += textAt(
                            middle, kTop + kPlotHeight - 8, "does not fit", "middle", 11, kFaint);
                    continue;
                }
                svg += rectangle(
                    x + 1, y(*value), width - 2, kTop + kPlotHeight - y(*value),
                    m_chart.series[s].colour);
                svg += textAt(
                    x + width / 2, y(*value) - 5, figure(*value), "middle", count > 1 ? 10 : 12,
                    kInk);
            }
        }
        return svg;
    }

    const Chart& m_chart;
    const Sweep& m_sweep;
    double m_left, m_right;
    double m_most = 0, m_step = 1;
};

/// Milliseconds, or seconds where a token takes long.
Chart timeChart(const Sweep& sweep) {
    double most = 0;
    for (const SweepRow& row : sweep.rows)
        most = std::max(most, std::max(row.msPerToken, row.readMs));
    const bool inSeconds = most >= 2000;
    Chart chart{"Time of a token", inSeconds ? "seconds" : "milliseconds", {}};
    const double scale = inSeconds ? 1e-3 : 1;
    for (const auto& [name, colour, value] :
         {std::tuple<const char*, const char*, double (*)(const SweepRow&)>{
              "I/O", "#d9822b", [](const SweepRow& r) { return r.readMs; }},
          {"total", "#30404d", [](const SweepRow& r) { return r.msPerToken; }}}) {
        auto values = valuesOf(sweep, value);
        for (auto& v : values)
            if (v)
                *v *= scale;
        chart.series.push_back({name, colour, std::move(values)});
    }
    return chart;
}

std::string settingsText(const Sweep& sweep) {
    const plan::RunConfig defaults;
    std::string text;
    for (const plan::Knob& knob : plan::knobs()) {
        std::string value = knob.print(sweep.config);
        if (&knob == sweep.knob || value == knob.print(defaults))
            continue;
        if (knob.key == "budget_bytes")
            value = base::bytesText(*sweep.config.budget);
        text += (text.empty() ? "" : ", ") + std::string(knob.label) + " " + value;
    }
    return text.empty() ? "all other settings at their defaults" : text;
}

} // namespace

std::string sweepSvg(const Sweep& sweep) {
    const Chart charts[]{
        {"Peak memory",
         "MiB",
         {{"peak", "#2b6cb0",
           valuesOf(sweep, [](const SweepRow& r) { return r.peak.real() / (1 << 20); })}}},
        {"Switches",
         "shards loaded for a token",
         {{"loads", "#0f8a7e", valuesOf(sweep, [](const SweepRow& r) { return r.loads; })}}},
        timeChart(sweep)};
    std::string svg =
        formatted(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"Inter, 'DejaVu Sans', sans-serif\">\n",
            kWidth, kHeight, kWidth, kHeight) +
        rectangle(0, 0, kWidth, kHeight, "#ffffff") +
        textAt(
            kGap + 8, 32,
            std::string(sweep.knob->label) + ": " + sweep.model + " on " + sweep.board, "start", 18,
            kInk, true) +
        textAt(kGap + 8, 53, settingsText(sweep), "start", 12, kFaint);
    double x = kGap;
    for (const Chart& chart : charts) {
        svg += Panel(chart, sweep, x).svg();
        x += kPanelWidth + kGap;
    }
    return svg + "</svg>\n";
}

} // namespace shardscope::app
