// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/start_spooled.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device_agent/agent/verbs.h"

namespace shardscope::agent {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

struct Pipe {
    int ends[2] = {-1, -1};

    Pipe() { (void)!::pipe2(ends, O_CLOEXEC); }
    ~Pipe() {
        closeEnd(0);
        closeEnd(1);
    }
    bool ok() const { return ends[0] >= 0; }
    void closeEnd(int which) {
        if (ends[which] >= 0)
            ::close(ends[which]);
        ends[which] = -1;
    }
};

/// In the child, after fork(): nothing may allocate before another program has begun.
[[noreturn]] void becomeRun(const char* path, Pipe& in, Pipe& out, Pipe& err) {
    ::setsid();
    // A child of a child: nobody has to wait for it, and it is no session leader.
    if (::fork() != 0)
        ::_exit(0);
    ::dup2(in.ends[0], STDIN_FILENO);
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    ::execl("/proc/self/exe", "shardscope-agent", "spool", path, static_cast<char*>(nullptr));
    // A board without /proc, or under an emulator that starts no programs: this process performs
    // the run. The ends of the other side would have gone with the program.
    for (Pipe* pipe : {&in, &out, &err})
        for (const int end : {0, 1})
            pipe->closeEnd(end);
    const std::array<std::string, 1> words{path};
    const Result<int> status = spoolVerb(words);
    if (!status)
        std::fprintf(stderr, "shardscope-agent: %s\n", status.error().line().c_str());
    std::fflush(nullptr);
    ::_exit(status ? *status : static_cast<int>(status.error().code));
}

bool writeAll(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

/// What the process says before it begins: nothing, or why not.
std::string wordsOf(int fd) {
    std::array<char, 512> text{};
    ssize_t n = 0;
    do
        n = ::read(fd, text.data(), text.size());
    while (n < 0 && errno == EINTR);
    std::string words(text.data(), static_cast<std::size_t>(n > 0 ? n : 0));
    while (!words.empty() && words.back() == '\n')
        words.pop_back();
    return words;
}

bool saysReady(int fd) {
    char byte = 0;
    ssize_t n = 0;
    do
        n = ::read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

} // namespace

Result<std::string> startSpooled(const Spool& spool, const nlohmann::ordered_json& request) {
    const auto failed = [](std::string what) {
        return Error{
            ErrorCode::Failed, std::move(what), "run",
            "check the folder of runs and its space, or give --spool DIR"};
    };
    const std::string id = spool.newId();
    const std::string path = *spool.pathOf(id);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(path + ": " + std::strerror(errno));
    ::close(file);
    Pipe in, out, err;
    const std::string text = request.dump();
    const pid_t child = in.ok() && out.ok() && err.ok() ? ::fork() : -1;
    if (child == 0)
        becomeRun(path.c_str(), in, out, err);
    const std::string why = std::strerror(errno);
    in.closeEnd(0);
    out.closeEnd(1);
    err.closeEnd(1);
    if (child > 0)
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    const bool sent = child > 0 && writeAll(in.ends[1], text);
    in.closeEnd(1);
    if (sent && saysReady(out.ends[0]))
        return id;
    const std::string words = child > 0 ? wordsOf(err.ends[0]) : why;
    ::unlink(path.c_str());
    return failed(words.empty() ? "the process of the run does not start" : words);
}

} // namespace shardscope::agent
