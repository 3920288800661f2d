// SPDX-License-Identifier: Apache-2.0
// The recorded events, replayed: which task ran on which thread from when to when, and the spans of
// waiting. No output format in here. All times: nanoseconds since tracing began.
#pragma once

#include "trace/array.h"
#include "trace/records.h"

#include <cstdint>

namespace sennit::trace {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

// Ids are dense (blocks per thread), so tasks are an array. Bounded by kMostMemory, so 32 bits do.
struct TaskRow {
    std::uint64_t entry;
    std::uint64_t created, ready, completed; // kNever: not seen
    std::uint64_t suspended; // total time between start and end in which it ran nowhere
    std::uint64_t since;     // of the piece that is open, or kNever
    std::uint64_t stopped;   // end of its latest piece
    std::uint32_t parent;
    std::uint32_t below; // the task under it on the same fiber's stack
    std::uint32_t depth; // tasks under it
    std::uint32_t span;  // 1 + index of its innermost open span
    bool on_stack;       // started and not ended
    bool seen;           // has a slice
};

// A task ran on a thread without a break.
struct Slice {
    std::uint64_t begin, end;
    std::uint32_t task;
    std::uint32_t depth;
    int row;
};

struct Span {
    std::uint64_t begin, end;
    const char *name;
    std::uint64_t bytes;
    std::uint32_t task;  // 0: a thread that runs no task
    std::uint32_t lane;  // spans of a lane do not overlap
    std::uint32_t outer; // 1 + index of the task's span around it
    std::int32_t peer, tag;
    bool open; // had not ended
};

struct Timeline {
    Array<TaskRow> tasks; // by id
    Array<Slice> slices;  // by row, then begin, outer before inner
    Array<Span> spans;    // by begin
    std::uint32_t lanes = 0;
};

// Reads `logs` (a list); what is open then ends at `end`, or with the last event when `cut` (the
// buffers were full). False without memory.
bool build_timeline(Timeline &timeline, const Log *logs, const Clock &clock, std::uint64_t end,
                    bool cut);

// For what is not a worker's: rows from here on, in the order of their first events.
inline constexpr int kForeignRow = 1 << 20;

} // namespace sennit::trace
