// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim_engine/base/units.h"

namespace shardscope::sim {

/// A read as it is handed to the I/O lane.
struct ReadWork {
    double activeNs = 0; ///< moving its bytes, with nothing else going on
    double deviceNs = 0; ///< what an emulated device takes for it; 0: none
};

/// A read that is done.
struct DoneRead {
    base::ShardId shard;
    double begin = 0, end = 0;
};

/// The two clocks of a run: ops follow each other on one lane, reads on the other, and while both
/// are at work each gets a share of its speed. A read that moves no bytes any more, but waits for
/// the device that a throttle imitates, costs the ops nothing. Times in ns.
class Lanes {
public:
    /// Shares of their speed (0..1] that ops and reads keep while both are at work.
    Lanes(std::size_t shards, double opShare, double readShare)
        : m_opShare(opShare), m_readShare(readShare), m_left(shards) {}

    double now() const { return m_now; }

    void issue(base::ShardId shard, const ReadWork& work) {
        if (work.deviceNs > 0)
            m_deviceFree = std::max(m_deviceFree, m_now) + work.deviceNs;
        m_queue.push_back({shard, m_now, work.activeNs, work.deviceNs > 0 ? m_deviceFree : m_now});
        ++m_left[shard.index()];
    }

    /// An op (or what stands between ops) of `work` ns, alone. Done reads go to `done`.
    template <typename Done>
    void compute(double work, Done&& done) {
        advance(work, m_opShare, m_readShare, done);
    }
    /// The computing thread waits for something else.
    template <typename Done>
    void pause(double time, Done&& done) {
        advance(time, 1, 1, done);
    }
    /// True where there was something to wait for.
    template <typename Done>
    bool await(base::ShardId shard, Done&& done) {
        const bool waits = m_left[shard.index()] > 0;
        while (m_left[shard.index()] > 0)
            finishHead(done);
        return waits;
    }
    /// Waits until the read that is under way, whichever it is, moves no more bytes.
    template <typename Done>
    void awaitMoving(Done&& done) {
        if (m_head < m_queue.size())
            pause(m_queue[m_head].left, done);
    }
    template <typename Done>
    void drain(Done&& done) {
        while (m_head < m_queue.size())
            finishHead(done);
    }

private:
    struct Read {
        base::ShardId shard;
        double asked;
        double left; ///< of its active time
        double readyBy;
    };

    template <typename Done>
    void advance(double work, double opShare, double readShare, Done&& done) {
        while (m_head < m_queue.size() && work > 0) {
            Read& read = m_queue[m_head];
            if (read.left > 0) {
                const double forOp = work / opShare, forRead = read.left / readShare;
                if (forOp < forRead) {
                    m_now += forOp;
                    read.left -= forOp * readShare;
                    return;
                }
                m_now += forRead;
                read.left = 0;
                work -= forRead * opShare;
            }
            if (read.readyBy > m_now) {
                const double wait = read.readyBy - m_now;
                if (work <= wait) {
                    m_now += work;
                    return;
                }
                m_now = read.readyBy;
                work -= wait;
            }
            complete(done);
        }
        m_now += std::max(work, 0.0);
    }
    template <typename Done>
    void finishHead(Done&& done) {
        Read& read = m_queue[m_head];
        m_now = std::max(m_now + read.left, read.readyBy);
        complete(done);
    }
    template <typename Done>
    void complete(Done&& done) {
        const Read& read = m_queue[m_head];
        const double begin = std::max(read.asked, m_lastEnd);
        m_lastEnd = std::max(m_now, begin);
        --m_left[read.shard.index()];
        done(DoneRead{read.shard, begin, m_lastEnd});
        if (++m_head == m_queue.size()) {
            m_queue.clear();
            m_head = 0;
        }
    }

    double m_opShare, m_readShare;
    double m_now = 0, m_lastEnd = 0, m_deviceFree = 0;
    std::vector<Read> m_queue; ///< from m_head on: not done
    std::size_t m_head = 0;
    std::vector<std::int32_t> m_left; ///< by ShardId: reads that are not done
};

} // namespace shardscope::sim
