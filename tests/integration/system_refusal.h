// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <vector>

/// A kernel that refuses what many kernels, sandboxes and file systems refuse: seccomp filters on a
/// thread of its own, which hold for the threads that it starts.
namespace shardscope::tests {

enum class Refusal { IoUring, DirectReads };

/// Runs `act` where these are refused, io_uring with EPERM and opens with O_DIRECT with EINVAL.
/// False where the system has no seccomp; `act` has not run then.
inline bool runRefused(const std::vector<Refusal>& refusals, const std::function<void()>& act) {
    bool isRefused = true;
    std::thread sandbox([&] {
        const auto load = [](std::size_t offset) {
            return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
        };
        const auto give = [](unsigned value) {
            return sock_filter BPF_STMT(BPF_RET | BPF_K, value);
        };
        isRefused = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
        for (const Refusal refusal : refusals) {
            std::vector<sock_filter> code{load(offsetof(seccomp_data, nr))};
            if (refusal == Refusal::IoUring) {
                code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1));
                code.push_back(give(SECCOMP_RET_ERRNO | EPERM));
            } else {
                code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3));
                code.push_back(load(offsetof(seccomp_data, args[2])));
                code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_DIRECT, 0, 1));
                code.push_back(give(SECCOMP_RET_ERRNO | EINVAL));
            }
            code.push_back(give(SECCOMP_RET_ALLOW));
            const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
            isRefused =
                isRefused && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
        }
        if (isRefused)
            act();
    });
    sandbox.join();
    return isRefused;
}

} // namespace shardscope::tests
