// SPDX-License-Identifier: Apache-2.0
// The rows of options.def, for who reads these variables: the library has no runtime to ask.
#pragma once

#include "base/option_rows.h"

#include <cstdio>
#include <cstdlib>

namespace sennit::mpi {

enum class CollectiveChoice : int { SENNIT_ENUMERATORS(SENNIT_COLLECTIVE_FORMS) };
enum class DetachProgress : int { SENNIT_ENUMERATORS(SENNIT_DETACH_PROGRESS) };

namespace options {
#define SENNIT_CHOICE(field, ...)                                                                  \
    inline constexpr OptionRow field = SENNIT_CHOICE_ROW(field, __VA_ARGS__);
#define SENNIT_TEXT(field, ...)                                                                    \
    inline constexpr OptionRow field = SENNIT_TEXT_ROW(field, __VA_ARGS__);
#include "mpi/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_TEXT

// The place of the word that a choice's variable has. One line, and the default, if it is unknown.
inline int read_choice(const OptionRow &row) {
    const char *value = std::getenv(row.variable);
    if (value && *value) {
        if (const int word = find_word(row.range, value); word >= 0)
            return word;
        std::fprintf(stderr, "sennit: %s='%s' is unknown: use one of %s; going on with '%s'\n",
                     row.variable, value, row.range, row.fallback);
    }
    return find_word(row.range, row.fallback);
}
} // namespace options

} // namespace sennit::mpi
