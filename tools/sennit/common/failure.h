// SPDX-License-Identifier: Apache-2.0
// How this command says that it cannot do what was asked: throw a Failure whose text is one line
// "<what is wrong, where, what to do>". main prints it behind "sennit: " and exits with `code`.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace sennit::tool {

// Exit code of everything that this command itself refuses, before any program has started.
inline constexpr int refused = 2;

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args &&...args) {
    throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

// A line on stderr, which may be closed: fmt::print would throw then, and no job would start.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args &&...args) {
    std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stderr);
}

} // namespace sennit::tool
