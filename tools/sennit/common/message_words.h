// SPDX-License-Identifier: Apache-2.0
// The words of a message from a rank (hang_judge.h, rank_ends.h), and the numbers among them.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace sennit::tool {

inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

// False: the text is something else than a number of this type.
template <class Number>
bool read(std::string_view text, Number &number, int base = 10) {
    const char *const begin = text.data();
    const char *const end = begin + text.size();
    const auto [at, error] = std::from_chars(begin, end, number, base);
    return error == std::errc{} && at == end;
}

} // namespace sennit::tool
