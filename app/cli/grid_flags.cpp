// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/grid_flags.h"

#include <algorithm>

#include "app/remote/board_source.h"
#include "sim_engine/base/format.h"

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

Result<Part> partFromText(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash != std::string::npos) {
        const auto index = base::parseInteger(text.substr(0, slash));
        const auto count = base::parseInteger(text.substr(slash + 1));
        if (index && count && *index >= 1 && *index <= *count && *count <= 100'000)
            return Part{static_cast<std::size_t>(*index), static_cast<std::size_t>(*count)};
    }
    return Error{
        ErrorCode::Usage, "\"" + text.substr(0, 60) + "\" is no part", "--part",
        "give the number of this part and of all, such as 2/4"};
}

Result<std::vector<std::string>> takeBoards(Words& words) {
    constexpr std::string_view kFlag = "--board";
    std::vector<std::string> boards;
    Words rest;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        std::string name;
        if (word == kFlag && i + 1 < words.size())
            name = words[++i];
        else if (word.starts_with(std::string(kFlag) + "="))
            name = word.substr(kFlag.size() + 1);
        else if (word != kFlag) {
            rest.push_back(word);
            continue;
        }
        if (name.empty())
            return Error{
                ErrorCode::Usage, "a value is missing", std::string(kFlag), "give NAME or FILE"};
        if (std::count(boards.begin(), boards.end(), name) > 0)
            return Error{
                ErrorCode::Usage, "the board stands twice", "--board " + name, "give it once"};
        boards.push_back(std::move(name));
    }
    words = std::move(rest);
    if (boards.empty())
        boards.push_back(kLocalBoard.toStdString());
    return boards;
}

Result<plan::BoardProfile> boardNamed(const std::string& name) {
    const QString board = QString::fromStdString(name);
    if (presetBoardNames().contains(board))
        return presetBoard(board);
    auto store = RunStore::open(DataPaths::standard());
    return resolveBoard(board, store ? store->get() : nullptr);
}

} // namespace shardscope::app
