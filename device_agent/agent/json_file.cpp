// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_agent/agent/json_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

namespace shardscope::agent {

base::Status writeJson(const std::string& path, const nlohmann::ordered_json& document) {
    using Handler = nlohmann::ordered_json::error_handler_t;
    const std::string text = document.dump(2, ' ', false, Handler::replace) + "\n";
    if (path == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return {};
    }
    struct stat info {};
    const bool inPlace = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    const std::string name = inPlace ? path : path + ".part";
    const auto failure = [&] {
        return base::Error{
            base::ErrorCode::Failed, std::strerror(errno), path, "check the folder and its space"};
    };
    std::FILE* file = std::fopen(name.c_str(), "wb");
    if (!file)
        return failure();
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    if (!written || !closed || (!inPlace && std::rename(name.c_str(), path.c_str()) != 0)) {
        const base::Error error = failure();
        if (!inPlace)
            std::remove(name.c_str());
        return error;
    }
    return {};
}

} // namespace shardscope::agent
