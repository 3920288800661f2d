// SPDX-License-Identifier: Apache-2.0
// Values of environment variables like "name:number,name:number,name". For libraries that are alone
// in a process, too.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sennit {

struct Word {
    const char *name;
    std::uint64_t *number; // null: it has none
    bool *there;           // may be null
    std::uint64_t least = 0;
    std::uint64_t most = UINT64_MAX;
    std::uint64_t factor = 1; // of the unit that *number has
};

namespace detail {

inline bool read_word(const char *text, std::size_t length, const Word &word) {
    const std::size_t size = std::strlen(word.name);
    if (length < size || std::strncmp(text, word.name, size) != 0)
        return false;
    if (word.number) {
        if (length < size + 2 || text[size] != ':' || text[size + 1] < '0' || text[size + 1] > '9')
            return false;
        char *end = nullptr;
        errno = 0;
        const unsigned long long number = std::strtoull(text + size + 1, &end, 10);
        if (errno != 0 || end != text + length || number < word.least || number > word.most)
            return false;
        *word.number = number * word.factor;
    } else if (length != size) {
        return false;
    }
    if (word.there)
        *word.there = true;
    return true;
}

} // namespace detail

// A part of the text that is none of the words; null: there is none.
struct BadWord {
    const char *text = nullptr;
    int length = 0;
};

template <std::size_t n>
BadWord read_words(const char *text, const Word (&words)[n]) {
    for (const char *at = text;; ++at) {
        const std::size_t length = std::strcspn(at, ",");
        bool found = false;
        for (const Word &word : words)
            found = found || detail::read_word(at, length, word);
        if (!found)
            return {at, static_cast<int>(length)};
        at += length;
        if (*at == '\0')
            return {};
    }
}

} // namespace sennit
