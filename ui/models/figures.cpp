// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/figures.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <cmath>

#include "sim_engine/base/format.h"

namespace shardscope::ui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("figures", text);
}

Figure bytes(const char* key, const char* name, const char* help, double value) {
    return {QLatin1String(key), tr(name), tr(help), Figure::Unit::Bytes, value, true};
}

Figure ms(const char* key, const char* name, const char* help, double value) {
    return {QLatin1String(key), tr(name), tr(help), Figure::Unit::Ms, value, true};
}

QString textOf(Figure::Unit unit, double value) {
    switch (unit) {
    case Figure::Unit::Bytes:
        return bytesText(value);
    case Figure::Unit::Ms:
        return msText(value);
    case Figure::Unit::Percent:
        return QStringLiteral("%1 %").arg(value, 0, 'f', 0);
    }
    return {};
}

} // namespace

QString msText(double ms) {
    return QString::fromStdString(base::timeText(base::Nanos(std::llround(ms * 1e6))));
}

QString bytesText(double bytes) {
    return QString::fromStdString(base::bytesText(base::Bytes(std::llround(bytes))));
}

QString flagsText(const std::string& sentence) {
    QString text = QString::fromStdString(sentence);
    text.replace(QStringLiteral("; the"), QStringLiteral("\nThe"));
    static const QRegularExpression flag(QStringLiteral("--[a-z-]+ [^ \\n]+"));
    QString out;
    qsizetype at = 0;
    for (auto found = flag.globalMatch(text); found.hasNext();) {
        const auto match = found.next();
        out += text.mid(at, match.capturedStart() - at);
        out += match.captured()
                   .replace(QLatin1Char(' '), QChar(0x00a0))
                   .replace(QLatin1Char('-'), QStringLiteral("-\u2060")); // no break after it
        at = match.capturedEnd();
    }
    return out + text.mid(at);
}

const FigureError* PredictionErrors::of(const QString& key) const {
    const auto found = figures.find(key);
    return found == figures.end() ? nullptr : &found->second;
}

QString Figure::text() const {
    return textOf(unit, value);
}

int Figure::verdict(const Figure& baseline) const {
    const double change = value - baseline.value;
    const double scale = std::max(std::abs(value), std::abs(baseline.value));
    if (std::abs(change) < 0.005 * scale || text() == baseline.text())
        return 0;
    return (change < 0) == lessIsBetter ? -1 : 1;
}

QString Figure::changeFrom(const Figure& baseline) const {
    if (verdict(baseline) == 0)
        return {};
    const double change = value - baseline.value;
    const QString sign = change < 0 ? QStringLiteral("\u2212") : QStringLiteral("+");
    const QString amount = sign + textOf(unit, std::abs(change));
    if (unit == Unit::Percent || baseline.value == 0)
        return amount;
    const double percent = std::abs(change) * 100 / std::abs(baseline.value);
    if (percent >= 1000)
        return amount;
    return QStringLiteral("%1  (%2%3 %)").arg(amount, sign).arg(percent, 0, 'f', 0);
}

std::vector<Figure> whatIfFigures(const analyze::Summary& s, std::int64_t streamedPerToken) {
    return {
        bytes(
            "arena_peak_bytes", "Peak RAM", "The size of the arena that the plan needs.",
            double(s.arenaPeak)),
        ms("first_token_ms", "First token", "From the begin of the run to the first token.",
           s.firstTokenMs),
        ms("decode_ms_per_token", "Per token", "Mean time of a decode step.", s.decodeMsPerToken),
        ms("total_ms", "Total", "From begin to end.", s.totalMs),
        bytes(
            "streamed_bytes_per_token", "Read per token", "Read from storage for each token.",
            double(streamedPerToken)),
        ms("stall_ms", "Stall", "Time in which compute waited for reads.", s.stallMs),
    };
}

std::vector<Figure> allFigures(const analyze::Summary& s) {
    return {
        bytes(
            "arena_peak_bytes", "Peak RAM (arena)", "The highest use of the arena.",
            double(s.arenaPeak)),
        bytes(
            "rss_peak_bytes", "Peak RSS", "The highest resident set of the agent.",
            double(s.rssPeak)),
        ms("mel_ms", "Mel", "Audio front end.", s.melMs),
        ms("encode_ms", "Encode", "The encoder, without mel.", s.encodeMs),
        ms("cross_kv_ms", "Cross KV", "Keys and values of cross-attention.", s.crossKvMs),
        ms("first_token_ms", "First token", "From the begin of the run to the first token.",
           s.firstTokenMs),
        ms("decode_ms_per_token", "Per token", "Mean time of a decode step.", s.decodeMsPerToken),
        ms("total_ms", "Total", "From begin to end.", s.totalMs),
        bytes("bytes_read", "Bytes read", "Read from storage in the run.", double(s.bytesRead)),
        ms("read_ms", "Read time", "Time in reads, hidden or not.", s.readMs),
        ms("stall_ms", "Stall", "Time in which compute waited for reads.", s.stallMs),
        {QStringLiteral("hidden_fraction"), tr("Hidden I/O"),
         tr("Share of read time that no op waited for."), Figure::Unit::Percent,
         s.hiddenFraction * 100, false},
    };
}

} // namespace shardscope::ui
