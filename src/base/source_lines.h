// SPDX-License-Identifier: Apache-2.0
// Lines of the source for addresses in object files, by debug information: what addr2line says.
//
// Invariant: the process notices nothing of the helper. It is no child of its, so wait() does not
// find it; it has none of its open files; it is ended when the time is over. Without addr2line,
// debug information, memory or time there are no lines, and nothing is said.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit {

struct SourceLine {
    char text[128] = ""; // "file.c:12"; "": not known
};

constexpr std::size_t kMostLooked = 512; // offsets at a time; there are no lines for more

// lines[i] is that of offsets[i] in the object file. `until`: a point in time of monotonic_ns().
void look_up_lines(const char *file, const std::uint64_t *offsets, std::size_t count,
                   SourceLine *lines, std::int64_t until);

// A hang report in which "[app+0x12]" has become "[app+0x12, app.c:7]"; malloc'ed, null: there is
// nothing to add. The files are those that the process has mapped which the line "sennit: ...
// process 123 ..." above names.
char *with_source_lines(const char *report);

} // namespace sennit
