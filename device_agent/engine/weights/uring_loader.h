// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <liburing.h>
#include <memory>
#include <vector>

#include "device_agent/engine/weights/arena.h"
#include "device_agent/engine/weights/open_uring.h"
#include "device_agent/engine/weights/page_span.h"
#include "device_agent/engine/weights/shard_loader.h"
#include "device_agent/engine/weights/weight_file.h"

namespace shardscope::engine {

/// Reads whole pages past the page cache with several requests under way: shards are cut into
/// pieces, and the kernel is kept supplied with kDepth of them. The first pieces of a load go out
/// while the last ones of the load before it are under way, so the device is never left without
/// work between two shards. The streaming slots are registered where the limit on locked memory
/// allows, which spares a page look-up a request.
class UringLoader final : public ShardLoader {
public:
    static constexpr unsigned kDepth = 8;
    static constexpr base::Bytes kPiece = base::kibibytes(512);
    static constexpr std::size_t kLoads = 4;

    /// Failed where the kernel has no io_uring for us, or the file system no O_DIRECT; tried with a
    /// real read.
    static base::Result<OpenedUring>
    create(const plan::Plan& plan, WeightFile& file, const Arena& arena);

    ~UringLoader() override;
    UringLoader(const UringLoader&) = delete;
    UringLoader& operator=(const UringLoader&) = delete;

    std::size_t depth() const override { return kLoads; }
    void begin(const plan::Shard& shard, std::byte* place) override;
    base::Result<bool> advance() override;
    plan::Loader kind() const override { return plan::Loader::Uring; }

private:
    /// A load that was begun.
    struct Load {
        const plan::Shard* shard = nullptr;
        std::byte* place = nullptr;
        std::size_t extent = 0; ///< of which the next piece is cut
        base::Bytes cut;        ///< of that extent's pages
        unsigned underWay = 0;  ///< pieces
    };
    /// A request.
    struct Piece {
        std::byte* to = nullptr;
        base::Bytes fileOffset;
        base::Bytes bytes; ///< whole pages
        base::Bytes end;   ///< in the file, of what is needed: its last page may be short
        Load* load = nullptr;
    };
    struct Registered {
        std::byte* begin;
        std::byte* end;
    };

    UringLoader(const WeightFile& file, int descriptor);
    base::Status open();
    /// Why the slots are not registered; empty: they are, or there are none.
    std::string registerSlots(const plan::Plan& plan, const Arena& arena);
    base::Status tryRead(std::byte* to);

    Load& loadAt(std::uint32_t number) { return m_loads[number % kLoads]; }
    bool isCut(const Load& load) const { return load.extent == load.shard->extents.size(); }
    /// Hands pieces to the kernel until it has kDepth of them or no more is to be read.
    void supply();
    Piece cut(Load& load) const;
    void submit(unsigned slot);
    /// Waits for a request to come back, and takes all that did.
    base::Status collect();
    base::Status wait();
    base::Status takeAll();
    base::Status take(unsigned slot, int result);
    int registeredIndex(const Piece& piece) const;

    const WeightFile& m_file;
    int m_fd;
    io_uring m_ring{};
    bool m_isOpen = false;
    bool m_gaveUp = false; ///< after an error: nothing more is asked for
    std::vector<Registered> m_registered;
    std::array<Load, kLoads> m_loads;
    std::uint32_t m_first = 0, m_cutting = 0,
                  m_end = 0; ///< oldest load, next to cut, next to begin
    std::array<Piece, kDepth> m_pieces;
    std::array<unsigned, kDepth> m_free; ///< places in m_pieces
    unsigned m_freeCount = kDepth;
};

} // namespace shardscope::engine
