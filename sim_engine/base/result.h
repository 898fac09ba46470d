// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace shardscope::base {

/// What kind of thing went wrong; the value is the exit status of the programs.
enum class ErrorCode {
    Usage = 2,      ///< a flag, key or request that does not exist or has a wrong value
    DoesNotFit = 3, ///< the plan does not fit the budget
    BadInput = 4,   ///< a file that is missing, foreign, truncated or hostile
    Failed = 5,     ///< something failed while running
    Connection = 6, ///< the board cannot be reached or does not let us in
};

/// One error: what happened, where (file and offset, flag, host), and what to do about it.
struct Error {
    ErrorCode code = ErrorCode::Failed;
    std::string what;
    std::string where;
    std::string mend;

    /// The one line that is shown: "where: what; mend".
    std::string line() const {
        std::string text = where.empty() ? what : where + ": " + what;
        return mend.empty() ? text : text + "; " + mend;
    }
};

/// A value or an Error. Exceptions do not cross module edges; this does.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return checked(), std::get<0>(m_state); }
    const T& value() const& { return checked(), std::get<0>(m_state); }
    T&& value() && { return checked(), std::get<0>(std::move(m_state)); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }

    const Error& error() const {
        if (ok())
            std::abort(); // a bug: the caller did not look
        return std::get<1>(m_state);
    }

private:
    void checked() const {
        if (!ok())
            std::abort();
    }
    std::variant<T, Error> m_state;
};

/// Success, or an Error.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : m_error(std::move(error)), m_ok(false) {}

    bool ok() const { return m_ok; }
    explicit operator bool() const { return m_ok; }
    const Error& error() const { return m_error; }

private:
    Error m_error;
    bool m_ok = true;
};

} // namespace shardscope::base
