// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace shardscope::app {

namespace {

/// Characters of UTF-8 text: bytes that do not continue one.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void printJson(const nlohmann::ordered_json& document) {
    using Handler = nlohmann::ordered_json::error_handler_t;
    print(document.dump(2, ' ', false, Handler::replace) + "\n");
}

int fail(const base::Error& error) {
    std::string line = "shardscope: " + error.line();
    std::replace(line.begin(), line.end(), '\n', ' '); // one line, whatever a file is called
    std::fprintf(stderr, "%s\n", line.c_str());
    return static_cast<int>(error.code);
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string text;
    for (const auto& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

} // namespace shardscope::app
