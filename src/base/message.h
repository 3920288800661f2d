// SPDX-License-Identifier: Apache-2.0
// The only way in which the runtime talks to a person: one line on stderr, one write(2), so that
// lines of several ranks do not mix.
#pragma once

#include <ctime>

namespace sennit {

// "sennit: <text>\n". The program goes on.
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...);

// The same with another head than "sennit".
[[gnu::format(printf, 2, 3)]] void warn_as(const char *head, const char *format, ...);
// Whether they say anything.
void set_warnings(bool on);

// The same, then abort() with the standard's exit status of a fatal runtime error: the program
// cannot go on without a wrong answer.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...);

// To call before MPI_Abort. A launcher that ends a job may do so before it has read what the ranks
// said last (MPICH's does). Then the user would not learn why.
inline void let_last_words_through() {
    const timespec moment{0, 200'000'000};
    nanosleep(&moment, nullptr);
}

} // namespace sennit
