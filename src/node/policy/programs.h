// SPDX-License-Identifier: Apache-2.0
// The programs of a view, each with its row of the memory. rethink() works on them.
#pragma once

#include "node/policy/policy.h"

namespace sennit::node {

struct ProgramNow {
    Memory::Program *row = nullptr;
    double share = 1;
    int ranks = 0;
    int wants = 0;
    std::int64_t used_ns = 0;
    double progress = 0;
};

struct ProgramsNow {
    ProgramNow programs[kMostPrograms];
    int count = 0;
    bool changed = false; // a program has come, or gone
    double shares = 0;

    std::span<ProgramNow> all() { return {programs, static_cast<std::size_t>(count)}; }
};

// The programs that are to own cores. A new program gets a row. The row is freed when the program
// has gone.
ProgramsNow programs_now(const View &view, Memory &memory);

// Measure from now on.
void begin_measurement(ProgramsNow &now, std::int64_t now_ns, Memory &memory);

// Find whole numbers near the wishes that add up to `cores`. Each is at least 1 if there are
// enough.
void round_to_sum(std::span<const double> wishes, int cores, std::span<int> targets);

} // namespace sennit::node
