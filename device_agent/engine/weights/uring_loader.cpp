// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/uring_loader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/uio.h>

namespace shardscope::engine {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

namespace {

Error refused(int negativeErrno) {
    return {
        ErrorCode::Failed, std::string("io_uring is refused: ") + std::strerror(-negativeErrno),
        "--loader uring", "use --loader direct"};
}

} // namespace

Result<OpenedUring> openUring(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    return UringLoader::create(plan, file, arena);
}

UringLoader::UringLoader(const WeightFile& file, int descriptor) : m_file(file), m_fd(descriptor) {
    std::iota(m_free.begin(), m_free.end(), 0u);
}

UringLoader::~UringLoader() {
    if (m_isOpen)
        ::io_uring_queue_exit(&m_ring);
}

Result<OpenedUring>
UringLoader::create(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    auto fd = file.directDescriptor();
    if (!fd)
        return fd.error();
    std::unique_ptr<UringLoader> loader(new UringLoader(file, *fd));
    if (Status status = loader->open(); !status)
        return status.error();
    std::string note = loader->registerSlots(plan, arena);
    if (!loader->m_registered.empty())
        if (Status status = loader->tryRead(loader->m_registered[0].begin); !status)
            return status.error();
    return OpenedUring{std::move(loader), std::move(note)};
}

Status UringLoader::open() {
    // liburing gives -errno and leaves errno alone. EPERM, ENOSYS and ENOMEM are everyday answers.
    if (const int error = ::io_uring_queue_init(kDepth, &m_ring, 0); error < 0)
        return refused(error);
    m_isOpen = true;
    const std::unique_ptr<void, decltype(&std::free)> page(
        std::aligned_alloc(plan::kPage, plan::kPage), &std::free);
    return tryRead(static_cast<std::byte*>(page.get()));
}

/// A ring can be made where no read goes through it.
Status UringLoader::tryRead(std::byte* to) {
    plan::Shard page;
    page.extents = {{Bytes(0), Bytes(plan::kPage), Bytes(0)}};
    begin(page, to);
    for (;;) {
        const auto isDone = advance();
        if (!isDone)
            return isDone.error();
        if (*isDone)
            return {};
    }
}

std::string UringLoader::registerSlots(const plan::Plan& plan, const Arena& arena) {
    std::vector<iovec> buffers;
    for (const plan::Block& block : plan.blocks)
        if (block.region == model::Region::StreamSlots && buffers.size() < UIO_MAXIOV)
            buffers.push_back({arena.at(block.offset), block.bytes.size()});
    if (buffers.empty())
        return {};
    const int error =
        ::io_uring_register_buffers(&m_ring, buffers.data(), static_cast<unsigned>(buffers.size()));
    // Plain requests do the same, a little slower.
    if (error < 0)
        return std::string("uring without registered buffers: ") + std::strerror(-error) +
               (error == -ENOMEM ? " (ulimit -l)" : "");
    for (const iovec& b : buffers) {
        auto* first = static_cast<std::byte*>(b.iov_base);
        m_registered.push_back({first, first + b.iov_len});
    }
    return {};
}

void UringLoader::begin(const plan::Shard& shard, std::byte* place) {
    loadAt(m_end++) = {&shard, place, 0, Bytes(0), 0};
}

Result<bool> UringLoader::advance() {
    supply();
    const Load& oldest = loadAt(m_first);
    if (oldest.underWay > 0)
        if (Status status = collect(); !status) {
            m_gaveUp = true;
            // Their memory must not be reused before the others are back.
            while (m_freeCount < kDepth && wait().ok())
                (void)takeAll();
            return status.error();
        }
    supply();
    if (oldest.underWay > 0 || !isCut(oldest))
        return false;
    ::io_uring_submit(&m_ring); // what supply() prepared must not wait for the next load
    ++m_first;
    return true;
}

void UringLoader::supply() {
    while (m_freeCount > 0 && !m_gaveUp) {
        while (m_cutting != m_end && isCut(loadAt(m_cutting)))
            ++m_cutting;
        if (m_cutting == m_end)
            return;
        const unsigned slot = m_free[--m_freeCount];
        m_pieces[slot] = cut(loadAt(m_cutting));
        submit(slot);
    }
}

UringLoader::Piece UringLoader::cut(Load& load) const {
    const plan::Extent& extent = load.shard->extents[load.extent];
    const PageSpan pages = pagesOf(extent);
    const Bytes begin = pages.fileOffset + load.cut;
    const Bytes bytes = std::min(kPiece, pages.bytes - load.cut);
    const Piece piece{
        load.place + (pages.place + load.cut).value, begin, bytes,
        std::min(begin + bytes, extent.fileOffset + extent.bytes), &load};
    load.cut += bytes;
    ++load.underWay;
    if (load.cut == pages.bytes) {
        load.cut = Bytes(0);
        ++load.extent;
    }
    return piece;
}

void UringLoader::submit(unsigned slot) {
    const Piece& p = m_pieces[slot];
    io_uring_sqe* sqe = ::io_uring_get_sqe(&m_ring); // never null: kDepth entries, kDepth under way
    const auto bytes = static_cast<unsigned>(p.bytes.value);
    const auto offset = static_cast<std::uint64_t>(p.fileOffset.value);
    if (const int index = registeredIndex(p); index >= 0)
        ::io_uring_prep_read_fixed(sqe, m_fd, p.to, bytes, offset, index);
    else
        ::io_uring_prep_read(sqe, m_fd, p.to, bytes, offset);
    ::io_uring_sqe_set_data64(sqe, slot);
}

Status UringLoader::collect() {
    if (Status status = wait(); !status)
        return status;
    return takeAll();
}

Status UringLoader::wait() {
    const int n = ::io_uring_submit_and_wait(&m_ring, 1);
    return n < 0 && n != -EINTR ? Status(refused(n)) : Status();
}

Status UringLoader::takeAll() {
    Status status;
    io_uring_cqe* cqe = nullptr;
    while (::io_uring_peek_cqe(&m_ring, &cqe) == 0) {
        const auto slot = static_cast<unsigned>(::io_uring_cqe_get_data64(cqe));
        const int result = cqe->res;
        ::io_uring_cqe_seen(&m_ring, cqe);
        if (Status taken = take(slot, result); !taken && status.ok())
            status = taken;
    }
    return status;
}

Status UringLoader::take(unsigned slot, int n) {
    Piece& p = m_pieces[slot];
    const bool again = n == -EINTR || n == -EAGAIN;
    const bool isShort = n > 0 && p.fileOffset + Bytes(n) < p.end;
    if (!m_gaveUp && (again || (isShort && !endsFile(n)))) {
        const Bytes done(std::max(0, n)); // a short read: the rest of the piece
        p.to += done.value;
        p.fileOffset += done;
        p.bytes -= done;
        submit(slot);
        return {};
    }
    m_free[m_freeCount++] = slot;
    --p.load->underWay;
    if (isShort)
        return m_file.readError(p.fileOffset + Bytes(n), 0);
    return n > 0 || again ? Status() : m_file.readError(p.fileOffset, -n);
}

int UringLoader::registeredIndex(const Piece& piece) const {
    for (std::size_t i = 0; i < m_registered.size(); ++i)
        if (piece.to >= m_registered[i].begin &&
            piece.to + piece.bytes.value <= m_registered[i].end)
            return static_cast<int>(i);
    return -1;
}

} // namespace shardscope::engine
