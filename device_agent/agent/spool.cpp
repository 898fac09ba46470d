// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim_engine/base/format.h"

namespace shardscope::agent {
namespace {

using base::Error;
using base::ErrorCode;
using base::Status;

constexpr std::string_view kSuffix = ".sst";
constexpr std::size_t kLongestId = 64;

struct flock wholeFile() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

/// Makes a folder and those above it.
bool makeFolders(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            return false;
        if (at == std::string::npos)
            return true;
    }
}

} // namespace

std::optional<pid_t> writerOf(int descriptor) {
    struct flock lock = wholeFile();
    if (::fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return std::nullopt;
    return lock.l_pid;
}

bool lockForWriting(int descriptor) {
    const struct flock lock = wholeFile();
    return ::fcntl(descriptor, F_SETLK, &lock) == 0;
}

std::string Spool::standardFolder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value && value[0] == '/' ? value : "");
    };
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
        return cache + "/shardscope/runs";
    if (const std::string home = variable("HOME"); !home.empty())
        return home + "/.cache/shardscope/runs";
    return base::formatted("/tmp/shardscope-%u/runs", static_cast<unsigned>(::getuid()));
}

base::Result<Spool> Spool::open(const std::string& folder) {
    struct stat info {};
    if (!makeFolders(folder) || ::stat(folder.c_str(), &info) != 0)
        return Error{
            ErrorCode::Failed, std::strerror(errno), folder,
            "runs are kept there until they are fetched: make it writable, or give --spool DIR"};
    if (info.st_uid != ::getuid())
        return Error{
            ErrorCode::Failed, "the folder for runs belongs to another user", folder,
            "give --spool DIR"};
    return Spool(folder);
}

std::string Spool::newId() const {
    for (int n = 0;; ++n) {
        std::tm date{};
        const std::time_t now = std::time(nullptr);
        ::gmtime_r(&now, &date);
        char text[32];
        std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &date);
        std::string id = base::formatted("%s-%d-%d", text, static_cast<int>(::getpid()), n);
        if (::access((m_folder + "/" + id + std::string(kSuffix)).c_str(), F_OK) != 0)
            return id;
    }
}

base::Result<std::string> Spool::pathOf(const std::string& id) const {
    const bool isPlain =
        !id.empty() && id.size() <= kLongestId && std::all_of(id.begin(), id.end(), [](char c) {
            return (c >= '0' && c <= '9') || c == '-';
        });
    if (!isPlain)
        return Error{ErrorCode::Usage, "not the id of a run", id.substr(0, kLongestId), ""};
    return m_folder + "/" + id + std::string(kSuffix);
}

std::vector<SpooledRun> Spool::runs() const {
    std::vector<SpooledRun> list;
    DIR* folder = ::opendir(m_folder.c_str());
    if (!folder)
        return list;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (name.size() <= kSuffix.size() || !name.ends_with(kSuffix))
            continue;
        const std::string id(name.substr(0, name.size() - kSuffix.size()));
        const auto path = pathOf(id);
        const int fd = path ? ::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
        if (fd < 0)
            continue;
        struct stat info {};
        if (::fstat(fd, &info) == 0)
            list.push_back(
                {id, base::Bytes(info.st_size), writerOf(fd).has_value(), info.st_mtime});
        ::close(fd);
    }
    ::closedir(folder);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return list;
}

Status Spool::forget(const std::string& id) const {
    const auto path = pathOf(id);
    if (!path)
        return path.error();
    const int fd = ::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return Error{ErrorCode::Usage, "there is no such run here", id, "ask for \"runs\""};
    const bool isAlive = writerOf(fd).has_value();
    ::close(fd);
    if (isAlive)
        return Error{ErrorCode::Usage, "the run goes on still", id, "stop it first"};
    if (::unlink(path->c_str()) != 0)
        return Error{ErrorCode::Failed, std::strerror(errno), *path, "check the folder"};
    return {};
}

void Spool::sweep(std::chrono::seconds age) const {
    const std::int64_t now = std::time(nullptr);
    for (const SpooledRun& run : runs())
        if (!run.isAlive && now - run.changedAt > age.count())
            (void)forget(run.id); // another agent may have swept it in between
}

} // namespace shardscope::agent
