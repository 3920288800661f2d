// SPDX-License-Identifier: Apache-2.0
// The only way in which the runtime talks to a person: one line on stderr, one write(2), so that
// lines of several ranks do not mix.
#pragma once

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

} // namespace sennit
