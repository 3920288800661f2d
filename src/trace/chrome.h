// SPDX-License-Identifier: Apache-2.0
// Writes what was recorded in Chrome's trace format, for Perfetto and chrome://tracing.
//
// A process is a rank. Rows 0.. are the workers with a slice (cat "task") for each time that a task
// ran without a break; rows from kFirstLane on hold the spans (cat "mpi"), whose tasks may be
// suspended meanwhile.
#pragma once

#include "trace/records.h"

#include <cstddef>
#include <cstdint>

namespace sennit::trace {

inline constexpr int kFirstLane = 1000; // or one after the highest worker

// Time stamps count from here, 2026-01-01 UTC: from 1970 on, microseconds in a double (what viewers
// store) are no finer than 0.25.
inline constexpr std::int64_t kEpochSeconds = 1767225600;

struct Report {
    const Log *logs;
    Moment begin, end;
    const char *folder;
    int rank;    // -1: unknown, the process id stands for it
    bool forked; // the child of a process that writes a report of its own
    bool cut;    // the buffers were full before the end
    std::uint64_t dropped;
    std::size_t memory; // of the buffers
};

// Writes <folder>/rank-<r>.json; one warning line for what went wrong.
void write_chrome(const Report &report);

} // namespace sennit::trace
