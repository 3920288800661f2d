// SPDX-License-Identifier: Apache-2.0
// Cross-iteration dependences: ordered(n) with doacross(source:) and doacross(sink:), formerly
// depend(source) and depend(sink) (OpenMP 5.2, 15.9.6 and 15.10.2).
//
// The threads of a loop share a bit per iteration vector: posted or not. A descriptor of the
// team's ring belongs to the loop number `turn`, as in workshares.h. In a team of one the order
// of execution satisfies every dependence, so there is nothing to share.
// All functions are called by every thread of the team, from its implicit task.
#pragma once

#include "omp/team/team.h"

#include <cstdint>

namespace sennit::omp {

// One loop of the nest: iteration i is first + i * step, for i in 0 .. count-1.
struct DoacrossLoop {
    std::int64_t first;
    std::int64_t step;
    std::uint64_t count;
};

// Enter and leave a loop nest with cross-iteration dependences.
void doacross_begin(sched::Worker &worker, int loops, const DoacrossLoop *nest);
void doacross_end(sched::Worker &worker);  // does nothing where there was no begin
int doacross_loops(sched::Worker &worker); // of the nest that the thread is in; 0: none
// The iteration with these values of the loop variables has passed its source.
void doacross_post(sched::Worker &worker, const std::int64_t *vector);
// Wait until the iteration has passed its source. An iteration outside of the iteration space is no
// dependence.
void doacross_wait(sched::Worker &worker, const std::int64_t *vector);

} // namespace sennit::omp
