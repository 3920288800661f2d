// SPDX-License-Identifier: Apache-2.0
// The runtime's environment options, read once when the library is loaded. A bad value costs one
// line on stderr and leaves the default. options.def is the table of them.
#pragma once

#include "base/environment.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

// What a row of a room's table of environment variables, <room>/options.def, is made of:
//
// - SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help): Type is made of WORDS, one of the
//   lists below
// - SENNIT_NUMBER(field, variable, fallback, least, most, help)
// - SENNIT_TEXT(field, variable, fallback, form, help): form shows people what the text looks like
//
// A file that includes a table defines the three macros before it and undefines them after it. All
// that is said of an option comes from its row: fields, enumerators, messages, `sennit doctor
// --options`, docs/user/reference.md and the manual page.

// Words of choices, in the order of their enumerators.
#define SENNIT_POLICIES(WORD)                                                                      \
    WORD(automatic, "auto")                                                                        \
    WORD(fifo, "fifo")                                                                             \
    WORD(lifo, "lifo")                                                                             \
    WORD(ma1, "ma1")                                                                               \
    WORD(ma2, "ma2")                                                                               \
    WORD(ma3, "ma3")                                                                               \
    WORD(sa, "sa")                                                                                 \
    WORD(fa, "fa")                                                                                 \
    WORD(steal, "steal")                                                                           \
    WORD(global, "global")
#define SENNIT_ORDERS(WORD)                                                                        \
    WORD(automatic, "auto")                                                                        \
    WORD(creation, "creation")                                                                     \
    WORD(ready, "ready")
#define SENNIT_HANG_MODES(WORD)                                                                    \
    WORD(report, "report")                                                                         \
    WORD(abort, "abort")                                                                           \
    WORD(off, "off")
#define SENNIT_COLLECTIVE_FORMS(WORD)                                                              \
    WORD(standard, "standard")                                                                     \
    WORD(nonblocking, "nonblocking")
#define SENNIT_DOORBELL_CHOICES(WORD)                                                              \
    WORD(automatic, "auto")                                                                        \
    WORD(on, "on")                                                                                 \
    WORD(off, "off")
#define SENNIT_ON_OFF(WORD)                                                                        \
    WORD(on, "on")                                                                                 \
    WORD(off, "off")
#define SENNIT_UNTIED_TASKS(WORD)                                                                  \
    WORD(stay, "stay")                                                                             \
    WORD(anywhere, "anywhere")
#define SENNIT_THREADSETS(WORD)                                                                    \
    WORD(team, "team")                                                                             \
    WORD(pool, "pool")
#define SENNIT_DETACH_PROGRESS(WORD)                                                               \
    WORD(polling, "polling")                                                                       \
    WORD(progress, "progress")

// enum class Type : int { SENNIT_ENUMERATORS(WORDS) };
#define SENNIT_ENUMERATOR(name, word) name,
#define SENNIT_ENUMERATORS(WORDS) WORDS(SENNIT_ENUMERATOR)
// The words as one string, "auto|fifo|lifo".
#define SENNIT_WORD_TEXT(name, word) "|" word
#define SENNIT_WORDS(WORDS) (&WORDS(SENNIT_WORD_TEXT)[1])

namespace sennit {

// A row for people: everything as text.
struct OptionRow {
    const char *variable;
    const char *kind;
    const char *fallback;
    const char *range; // of a choice the words, of a number "least..most", of a text its form
    const char *help;
};

// Word number `index` of "a|b|c".
constexpr std::string_view word_at(std::string_view words, int index) {
    for (; index > 0; --index)
        words.remove_prefix(words.find('|') + 1);
    return words.substr(0, words.find('|'));
}

// The place of `word` in "a|b|c", or -1.
constexpr int find_word(std::string_view words, std::string_view word) {
    for (int index = 0;; ++index) {
        const std::size_t end = words.find('|');
        if (words.substr(0, end) == word)
            return index;
        if (end == std::string_view::npos)
            return -1;
        words.remove_prefix(end + 1);
    }
}

} // namespace sennit

// The three as OptionRows.
#define SENNIT_CHOICE_ROW(field, Type, WORDS, variable, fallback, help)                            \
    sennit::OptionRow {                                                                            \
        variable, "choice", fallback, SENNIT_WORDS(WORDS), help                                    \
    }
#define SENNIT_NUMBER_ROW(field, variable, fallback, least, most, help)                            \
    sennit::OptionRow {                                                                            \
        variable, "number", #fallback, #least ".." #most, help                                     \
    }
#define SENNIT_TEXT_ROW(field, variable, fallback, form, help)                                     \
    sennit::OptionRow {                                                                            \
        variable, "text", fallback, form, help                                                     \
    }

namespace sennit {

enum class HangMode : int { SENNIT_ENUMERATORS(SENNIT_HANG_MODES) };
enum class LibcCalls : int { SENNIT_ENUMERATORS(SENNIT_ON_OFF) };
enum class Talp : int { SENNIT_ENUMERATORS(SENNIT_ON_OFF) };
enum class RepeatedGraphs : int { SENNIT_ENUMERATORS(SENNIT_ON_OFF) };
enum class UntiedTasks : int { SENNIT_ENUMERATORS(SENNIT_UNTIED_TASKS) };
enum class Threadset : int { SENNIT_ENUMERATORS(SENNIT_THREADSETS) };
enum class Policy : int { SENNIT_ENUMERATORS(SENNIT_POLICIES) };
enum class Order : int { SENNIT_ENUMERATORS(SENNIT_ORDERS) };

// A field for each row; texts are never null, empty = off.
struct Config {
#define SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help) Type field;
#define SENNIT_NUMBER(field, variable, fallback, least, most, help) long field;
#define SENNIT_TEXT(field, variable, fallback, form, help) const char *field;
#include "base/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_NUMBER
#undef SENNIT_TEXT
};

// Valid after config_setup, constant from then on.
const Config &config();
void config_setup();
// What `auto` stands for in this program; before anybody else looks.
void choose_policy(Policy policy);

// Is the variable set at all?
bool is_given(const char *variable);
// The word of config().policy.
std::string_view policy_word();

// Which word of a choice (base/config.h) the environment asks for.

// The word's place in `words`. If it is unknown, say(line) is told, and the fallback's is returned.
template <class Say>
int read_choice(const char *variable, const char *fallback, const char *words, Say say) {
    const char *const value = trusted_environment(variable);
    const int otherwise = std::max(find_word(words, fallback), 0); // it is one of them
    if (!value || !*value)
        return otherwise;
    if (const int word = find_word(words, value); word >= 0)
        return word;
    char line[512];
    std::snprintf(line, sizeof line, "%s='%s' is unknown: use one of %s; going on with '%s'",
                  variable, value, words, fallback);
    say(line);
    return otherwise;
}

// Values of environment variables like "name:number,name:number,name". For libraries that are alone
// in a process, too.

struct NamedNumber {
    const char *name;
    std::uint64_t *number; // null: it has none
    bool *there;           // may be null
    std::uint64_t least = 0;
    std::uint64_t most = UINT64_MAX;
    std::uint64_t factor = 1; // of the unit that *number has
};

namespace detail {

inline bool read_word(const char *text, std::size_t length, const NamedNumber &word) {
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
BadWord read_words(const char *text, const NamedNumber (&words)[n]) {
    for (const char *at = text;; ++at) {
        const std::size_t length = std::strcspn(at, ",");
        bool found = false;
        for (const NamedNumber &word : words)
            found = found || detail::read_word(at, length, word);
        if (!found)
            return {at, static_cast<int>(length)};
        at += length;
        if (*at == '\0')
            return {};
    }
}

} // namespace sennit
