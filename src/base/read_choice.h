// SPDX-License-Identifier: Apache-2.0
// Which word of a choice (base/option_rows.h) the environment asks for.
#pragma once

#include "base/environment.h"
#include "base/option_rows.h"

#include <algorithm>
#include <cstdio>

namespace sennit {

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

} // namespace sennit
