// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/engine/weights/uring_loader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/uio.h>

#include "device_agent/engine/weights/open_uring.h"

namespace shardscope::engine {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::Status;

namespace {

Error refused(int negativeErrno) {
    return {
        ErrorCode::Failed, std::string("io_uring is refused: ") + std::strerror(-negativeErrno),
        "--loader uring", "use --loader direct"};
}

} // namespace

base::Result<std::unique_ptr<ShardLoader>>
UringLoader::create(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    auto fd = file.directDescriptor();
    if (!fd)
        return fd.error();
    std::unique_ptr<UringLoader> loader(new UringLoader(file, *fd));
    if (Status status = loader->open(plan, arena); !status)
        return status.error();
    return std::unique_ptr<ShardLoader>(std::move(loader));
}

base::Result<std::unique_ptr<ShardLoader>>
openUring(const plan::Plan& plan, WeightFile& file, const Arena& arena) {
    return UringLoader::create(plan, file, arena);
}

UringLoader::~UringLoader() {
    if (m_isOpen)
        ::io_uring_queue_exit(&m_ring);
}

Status UringLoader::open(const plan::Plan& plan, const Arena& arena) {
    // liburing gives -errno and leaves errno alone. EPERM, ENOSYS and ENOMEM are everyday answers.
    if (const int error = ::io_uring_queue_init(kDepth, &m_ring, 0); error < 0)
        return refused(error);
    m_isOpen = true;
    if (Status status = tryRead(); !status)
        return status;
    // No allocation while tokens are decoded: room for the pieces of the largest shard.
    std::size_t most = 0;
    for (const plan::Shard& shard : plan.shards)
        most = std::max(most, shard.held.size() / kPiece.size() + 2 * shard.extents.size() + 1);
    m_pieces.reserve(most);
    registerSlots(plan, arena);
    return {};
}

/// A ring can be made where no read goes through it.
Status UringLoader::tryRead() {
    const std::unique_ptr<void, decltype(&std::free)> page(
        std::aligned_alloc(plan::kPage, plan::kPage), &std::free);
    m_pieces.assign(1, {static_cast<std::byte*>(page.get()), Bytes(0), Bytes(plan::kPage)});
    return perform();
}

void UringLoader::registerSlots(const plan::Plan& plan, const Arena& arena) {
    std::vector<iovec> buffers;
    for (const plan::Block& block : plan.blocks)
        if (block.region == model::Region::StreamSlots && buffers.size() < UIO_MAXIOV)
            buffers.push_back({arena.at(block.offset), block.bytes.size()});
    if (buffers.empty() || ::io_uring_register_buffers(
                               &m_ring, buffers.data(), static_cast<unsigned>(buffers.size())) < 0)
        return; // the limit on locked memory: plain requests do the same, a little slower
    for (const iovec& b : buffers) {
        auto* begin = static_cast<std::byte*>(b.iov_base);
        m_registered.push_back({begin, begin + b.iov_len});
    }
}

Status UringLoader::load(const plan::Shard& shard, std::byte* place) {
    m_pieces.clear();
    for (const plan::Extent& e : shard.extents)
        cut(pagesOf(e), place);
    return perform();
}

void UringLoader::cut(const PageSpan& pages, std::byte* place) {
    for (Bytes done; done < pages.bytes; done += kPiece)
        m_pieces.push_back(
            {place + (pages.place + done).value, pages.fileOffset + done,
             std::min(kPiece, pages.bytes - done)});
}

Status UringLoader::perform() {
    std::size_t next = 0, underWay = 0;
    Status status;
    while ((status.ok() && next < m_pieces.size()) || underWay > 0) {
        for (; status.ok() && next < m_pieces.size() && underWay < kDepth; ++next, ++underWay)
            submit(next);
        if (const int n = ::io_uring_submit_and_wait(&m_ring, 1); n < 0 && n != -EINTR)
            return refused(n);
        if (Status done = complete(underWay); !done && status.ok())
            status = done; // the others must still come back before their memory is reused
    }
    return status;
}

void UringLoader::submit(std::size_t slot) {
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

Status UringLoader::complete(std::size_t& underWay) {
    Status status;
    io_uring_cqe* cqe = nullptr;
    while (::io_uring_peek_cqe(&m_ring, &cqe) == 0) {
        Piece& p = m_pieces[static_cast<std::size_t>(::io_uring_cqe_get_data64(cqe))];
        const auto slot = static_cast<std::size_t>(::io_uring_cqe_get_data64(cqe));
        const int n = cqe->res;
        ::io_uring_cqe_seen(&m_ring, cqe);
        const Bytes end = std::min(p.fileOffset + p.bytes, m_file.size());
        if (n == -EINTR || n == -EAGAIN) {
            submit(slot);
        } else if (n <= 0) {
            --underWay;
            status = m_file.readError(p.fileOffset, -n);
        } else if (p.fileOffset + Bytes(n) < end) {
            p.to += n; // a short read: the rest of the piece
            p.fileOffset += Bytes(n);
            p.bytes -= Bytes(n);
            submit(slot);
        } else {
            --underWay;
        }
    }
    return status;
}

int UringLoader::registeredIndex(const Piece& piece) const {
    for (std::size_t i = 0; i < m_registered.size(); ++i)
        if (piece.to >= m_registered[i].begin &&
            piece.to + piece.bytes.value <= m_registered[i].end)
            return static_cast<int>(i);
    return -1;
}

} // namespace shardscope::engine
