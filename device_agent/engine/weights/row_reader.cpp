// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/row_reader.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "device_agent/engine/weights/page_span.h"

namespace shardscope::engine {

using base::Bytes;
using base::Status;

namespace {

/// A request of this size takes hardly longer than one of a page.
constexpr Bytes kWindow = base::kibibytes(16);

} // namespace

RowReader::RowReader(const WeightFile& file, int direct) : m_file(file), m_direct(direct) {
    if (m_direct < 0)
        return;
    for (Window& w : m_windows)
        w.pages.reset(static_cast<std::byte*>(std::aligned_alloc(plan::kPage, kWindow.size())));
}

Status RowReader::read(std::size_t table, Bytes offset, std::byte* out, Bytes bytes) {
    const Bytes lead(offset.value % plan::kPage);
    if (m_direct < 0 || table >= m_windows.size() || lead + bytes > kWindow)
        return m_file.read(offset, out, bytes);
    Window& w = m_windows[table];
    if (!w.holds(offset, bytes))
        if (Status status = fill(w, offset - lead, lead + bytes); !status)
            return status;
    std::memcpy(out, w.pages.get() + (offset - w.begin).value, bytes.size());
    return {};
}

Status RowReader::fill(Window& w, Bytes offset, Bytes bytes) {
    w.begin = w.end = offset;
    while (w.end < offset + bytes) {
        const Bytes done = w.end - offset;
        const ssize_t n = ::pread(
            m_direct, w.pages.get() + done.value, (kWindow - done).size(),
            static_cast<off_t>(w.end.value));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return m_file.readError(w.end, n < 0 ? errno : 0);
        w.end += Bytes(n);
        if (w.end < offset + bytes && endsFile(n))
            return m_file.readError(w.end, 0);
    }
    return {};
}

} // namespace shardscope::engine
