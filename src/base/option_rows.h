// SPDX-License-Identifier: Apache-2.0
// What a row of a room's table of environment variables, <room>/options.def, is made of:
//
// - SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help): Type is made of WORDS, one of the
//   lists below
// - SENNIT_NUMBER(field, variable, fallback, least, most, help)
// - SENNIT_TEXT(field, variable, fallback, form, help): form shows people what the text looks like
//
// Who includes a table defines the three macros before it and undefines them after it. All that is
// said of an option comes from its row: fields, enumerators, messages, `sennit doctor --options`,
// docs/user/options.md and the manual page.
#pragma once

#include <string_view>

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
#define SENNIT_LENDING_CHOICES(WORD)                                                               \
    WORD(on, "on")                                                                                 \
    WORD(off, "off")
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
