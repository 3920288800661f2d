// SPDX-License-Identifier: Apache-2.0
// A list of numbers as the system's files have it: 0-3,8,10-11.
#pragma once

#include <cstdlib>

namespace sennit {

// visit(number) for each that is less than `end`; what is no list ends it.
template <class Visit>
void each_of_list(const char *text, int end, Visit visit) {
    for (const char *at = text; *at >= '0' && *at <= '9';) {
        char *after = nullptr;
        const long first = std::strtol(at, &after, 10);
        const long last = *after == '-' ? std::strtol(after + 1, &after, 10) : first;
        for (long number = first; number <= last && number < end; ++number)
            visit(static_cast<int>(number));
        at = *after == ',' ? after + 1 : after;
    }
}

} // namespace sennit
