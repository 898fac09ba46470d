// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/state/time_state.h"

#include <algorithm>
#include <utility>

namespace shardscope::ui {

using base::Nanos;

namespace {

/// Wheel and drag steps closer than this are one step to undo.
constexpr qint64 kOneGestureMs = 700;
constexpr std::size_t kUndoDepth = 200;

} // namespace

TimeState::TimeState(QObject* parent) : QObject(parent) {}

TimeRange TimeState::clamped(TimeRange range) const {
    const TimeRange limit = bounds();
    const Nanos span = std::clamp(range.span(), kShortest, std::max(kShortest, limit.span()));
    const Nanos last = std::max(limit.begin, limit.end - span);
    const Nanos begin = std::clamp(range.begin, limit.begin, last);
    return {begin, begin + span};
}

void TimeState::reset(TimeRange run) {
    m_run = run;
    m_undo.clear();
    m_now = {};
    m_now.visible = clamped(run);
    m_follow = true;
    m_lastMotion = Motion::Step;
    setCursor(std::nullopt);
    setSelection(std::nullopt);
    setHovered({});
    setNotes({});
    emit runChanged();
    emit filtersChanged();
    emit visibleChanged();
    emit followChanged();
}

void TimeState::setRun(TimeRange run) {
    if (run == m_run)
        return;
    const bool all = showsAll();
    const Nanos grown = run.end - m_run.end;
    m_run = run;
    emit runChanged();
    if (!m_now.filters.empty())
        return;
    if (all)
        moveTo(run);
    else if (followsLive())
        moveTo({m_now.visible.begin + grown, m_now.visible.end + grown});
    else
        moveTo(m_now.visible);
}

void TimeState::setNotes(std::vector<TimeNote> notes) {
    std::stable_sort(notes.begin(), notes.end(), [](const TimeNote& a, const TimeNote& b) {
        return a.range.begin < b.range.begin;
    });
    if (std::exchange(m_notes, std::move(notes)) != m_notes)
        emit notesChanged();
}

std::optional<TimeRange> TimeState::noteRange() const {
    if (m_selection)
        return m_selection;
    return m_cursor ? std::optional(TimeRange{*m_cursor, *m_cursor}) : std::nullopt;
}

void TimeState::setLive(bool live) {
    if (std::exchange(m_live, live) != live)
        emit followChanged();
}

void TimeState::setFollow(bool follow) {
    if (std::exchange(m_follow, follow) != follow)
        emit followChanged();
}

void TimeState::stopFollowing() {
    if (m_live)
        setFollow(false);
}

void TimeState::remember(Motion motion) {
    const bool sameGesture = motion == Motion::Continuous && m_lastMotion == motion &&
                             m_sinceMotion.isValid() && m_sinceMotion.elapsed() < kOneGestureMs;
    m_lastMotion = motion;
    m_sinceMotion.start();
    if (sameGesture)
        return;
    if (m_undo.size() == kUndoDepth)
        m_undo.erase(m_undo.begin());
    m_undo.push_back(m_now);
}

void TimeState::moveTo(TimeRange range) {
    const TimeRange next = clamped(range);
    if (next == m_now.visible)
        return;
    m_now.visible = next;
    emit visibleChanged();
}

void TimeState::zoomTo(TimeRange range) {
    if (clamped(range) == m_now.visible)
        return;
    remember(Motion::Step);
    stopFollowing();
    moveTo(range);
}

void TimeState::zoomAt(Nanos at, double factor) {
    const TimeRange old = m_now.visible;
    const double span = std::clamp(
        old.span().real() * factor, kShortest.real(), std::max(kShortest, bounds().span()).real());
    const double scale = old.empty() ? 1 : span / old.span().real();
    const double begin = at.real() - (at - old.begin).real() * scale;
    const TimeRange next{
        Nanos(static_cast<std::int64_t>(begin)), Nanos(static_cast<std::int64_t>(begin + span))};
    if (clamped(next) == old)
        return;
    remember(Motion::Continuous);
    stopFollowing();
    moveTo(next);
}

void TimeState::panBy(Nanos distance) {
    const TimeRange next{m_now.visible.begin + distance, m_now.visible.end + distance};
    if (clamped(next) == m_now.visible)
        return;
    remember(Motion::Continuous);
    stopFollowing();
    moveTo(next);
}

void TimeState::showRange(TimeRange range) {
    if (clamped(range) == m_now.visible)
        return;
    remember(Motion::Continuous);
    stopFollowing();
    moveTo(range);
}

void TimeState::reveal(Nanos t) {
    const TimeRange v = m_now.visible;
    if (v.contains(t))
        return;
    const Nanos begin = t - Nanos(v.span().value / 2);
    moveTo({begin, begin + v.span()});
}

void TimeState::home() {
    if (!showsAll()) {
        remember(Motion::Step);
        moveTo(bounds());
    }
    setFollow(true);
}

void TimeState::back() {
    if (m_undo.empty())
        return;
    Place place = std::move(m_undo.back());
    m_undo.pop_back();
    m_lastMotion = Motion::Step;
    stopFollowing();
    const bool filters = place.filters != m_now.filters;
    m_now = std::move(place);
    m_now.visible = clamped(m_now.visible);
    if (filters)
        emit filtersChanged();
    emit visibleChanged();
}

void TimeState::clear() {
    if (m_selection)
        setSelection(std::nullopt);
    else
        back();
}

void TimeState::resume() {
    const Nanos span = m_now.visible.span();
    setFollow(true);
    moveTo({bounds().end - span, bounds().end});
}

void TimeState::setCursor(std::optional<Nanos> t) {
    if (t == m_cursor)
        return;
    m_cursor = t;
    emit cursorChanged();
}

void TimeState::setSelection(std::optional<TimeRange> range) {
    if (range && range->end < range->begin)
        std::swap(range->begin, range->end);
    if (range == m_selection)
        return;
    m_selection = range;
    emit selectionChanged();
}

void TimeState::zoomToSelection() {
    if (m_selection)
        zoomTo(*m_selection);
}

void TimeState::setHovered(Item item) {
    if (item == m_hovered)
        return;
    m_hovered = item;
    emit hoverChanged();
}

void TimeState::pushFilter(TimeRange range) {
    const TimeRange limit = bounds();
    range.begin = std::max(range.begin, limit.begin);
    range.end = std::min(range.end, limit.end);
    if (range.empty() || range == limit)
        return;
    remember(Motion::Step);
    stopFollowing();
    m_now.filters.push_back(range);
    m_now.visible = clamped(range);
    if (m_selection == range)
        setSelection(std::nullopt);
    emit filtersChanged();
    emit visibleChanged();
}

void TimeState::removeFilter(int index) {
    if (index < 0 || index >= static_cast<int>(m_now.filters.size()))
        return;
    remember(Motion::Step);
    const bool all = showsAll();
    m_now.filters.resize(static_cast<std::size_t>(index));
    m_now.visible = clamped(all ? bounds() : m_now.visible);
    emit filtersChanged();
    emit visibleChanged();
}

} // namespace shardscope::ui
