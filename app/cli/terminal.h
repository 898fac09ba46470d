// SPDX-License-Identifier: GPL-3.0-or-later
// What verbs print: results on stdout, one line a failure on stderr.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim_engine/base/result.h"

namespace shardscope::app {

void print(std::string_view text);
/// Indented, with a newline at the end; invalid UTF-8 is replaced.
void printJson(const nlohmann::ordered_json& document);
/// "shardscope: where: what; mend" on stderr; the exit status for it.
int fail(const base::Error& error);

/// Rows of cells, aligned by the widest of each column; the first row is the head.
class Table {
public:
    void add(std::vector<std::string> cells) { m_rows.push_back(std::move(cells)); }
    std::string text() const;

private:
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace shardscope::app
