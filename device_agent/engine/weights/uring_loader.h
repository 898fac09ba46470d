// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <liburing.h>
#include <memory>
#include <vector>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/page_span.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads whole pages past the page cache with several requests under way: a shard is cut into
/// pieces, and the kernel is kept supplied with kDepth of them. The streaming slots are registered
/// where the limit on locked memory allows, which spares a page look-up a request.
class UringLoader final : public ShardLoader {
public:
    static constexpr unsigned kDepth = 8;
    static constexpr base::Bytes kPiece = base::kibibytes(256);

    /// Failed where the kernel has no io_uring for us, or the file system no O_DIRECT; tried with a
    /// real read.
    static base::Result<std::unique_ptr<ShardLoader>>
    create(const plan::Plan& plan, WeightFile& file, const Arena& arena);

    ~UringLoader() override;
    UringLoader(const UringLoader&) = delete;
    UringLoader& operator=(const UringLoader&) = delete;

    base::Status load(const plan::Shard& shard, std::byte* place) override;
    plan::Loader kind() const override { return plan::Loader::Uring; }

private:
    struct Piece {
        std::byte* to = nullptr;
        base::Bytes fileOffset;
        base::Bytes bytes;
    };
    struct Registered {
        std::byte* begin;
        std::byte* end;
    };

    UringLoader(const WeightFile& file, int descriptor) : m_file(file), m_fd(descriptor) {}
    base::Status open(const plan::Plan& plan, const Arena& arena);
    base::Status tryRead();
    void registerSlots(const plan::Plan& plan, const Arena& arena);
    void cut(const PageSpan& pages, std::byte* place);
    base::Status perform();
    void submit(std::size_t slot);
    base::Status complete(std::size_t& underWay);
    int registeredIndex(const Piece& piece) const;

    const WeightFile& m_file;
    int m_fd;
    io_uring m_ring{};
    bool m_isOpen = false;
    std::vector<Registered> m_registered;
    std::vector<Piece> m_pieces; ///< of the load under way
};

} // namespace shardscope::engine
