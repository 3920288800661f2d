// SPDX-License-Identifier: Apache-2.0
// Text from outside, as a terminal, a table or a page may show it: names in traces and ELF files,
// paths, what other processes tell. Another user may have made it. Invariant: what is shown moves
// no cursor, sets no colour, hides no other text and begins no line of its own. Bytes that would,
// or that are no UTF-8, are shown as \x1b.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sennit {

// Which characters that move the cursor are kept: in a text of several lines, the end of a line and
// the tabulator.
enum class Lines { one, many };

namespace printable_detail {

inline unsigned char byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// Bytes of the well-formed character (Unicode 15, Table 3-7) at `at`, and its number; 0: there is
// none.
inline std::size_t utf8_length(std::string_view text, std::size_t at, unsigned &number) {
    const unsigned char first = byte_at(text, at);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    number = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const unsigned char next = byte_at(text, at + i);
        if ((next & 0xc0) != 0x80)
            return 0;
        number = number << 6 | (next & 0x3fU);
    }
    const bool is_long_form = (length == 3 && number < 0x800) || (length == 4 && number < 0x10000);
    const bool is_none = (number >= 0xd800 && number < 0xe000) || number > 0x10ffff;
    return is_long_form || is_none ? 0 : length;
}

// Controls of both sets, and what turns the direction of a text or ends a line in it.
inline bool is_control(unsigned number) {
    return number < 0x20 || (number >= 0x7f && number < 0xa0) || number == 0x61c ||
           (number >= 0x200e && number <= 0x200f) || (number >= 0x2028 && number <= 0x202e) ||
           (number >= 0x2066 && number <= 0x2069) || number == 0xfeff;
}

} // namespace printable_detail

// put(bytes) for each piece of what may be shown. No memory is taken.
template <class Put>
void put_printable(std::string_view text, Lines lines, Put put) {
    using namespace printable_detail;
    static constexpr char kHex[] = "0123456789abcdef";
    for (std::size_t at = 0; at < text.size();) {
        unsigned number = 0;
        const std::size_t length = utf8_length(text, at, number);
        const bool kept = lines == Lines::many && (number == '\n' || number == '\t');
        if (length > 0 && (kept || !is_control(number))) {
            put(text.substr(at, length));
            at += length;
            continue;
        }
        for (const std::size_t end = at + (length > 0 ? length : 1); at < end; ++at) {
            const unsigned char byte = byte_at(text, at);
            const char shown[] = {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
            put(std::string_view(shown, sizeof shown));
        }
    }
}

// For code that has the C++ library; the runtime has not, and never calls it.
inline std::string printable(std::string_view text, Lines lines = Lines::one) {
    std::string shown;
    shown.reserve(text.size());
    put_printable(text, lines, [&](std::string_view piece) { shown += piece; });
    return shown;
}

} // namespace sennit
