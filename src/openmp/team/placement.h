// SPDX-License-Identifier: Apache-2.0
// On which places the threads of a region run (OpenMP 5.2, 10.1.3), and how to show where they are
// (21.2).
//
// fork() notes the policy and the encountering thread's placement in the team. From these each
// thread finds its own place when it enters the region, and moves only if the place has changed. If
// neither binding nor display is asked for, all of this costs one look at a flag.
#pragma once

#include "base/compiler.h"
#include "openmp/env/affinity.h"

#include <cstddef>
#include <sched.h>

namespace sennit::omp {

struct Member;
struct Team;

// Note a proc_bind clause (omp_proc_bind_t; 0: there is none) for the next region that this thread
// starts.
void announce_proc_bind_slow(int policy);
inline void announce_proc_bind(int policy) {
    if (SENNIT_UNLIKELY(affinity_on()) && policy != 0)
        announce_proc_bind_slow(policy);
}

// Decide where the threads of `team` go. Called before they begin a region.
void place_team_slow(Team &team, Member &encountering);
inline void place_team(Team &team, Member &encountering) {
    if (SENNIT_UNLIKELY(affinity_on()))
        place_team_slow(team, encountering);
}
// Called by each thread when its implicit task begins.
void enter_place_slow(Member &member);
inline void enter_place(Member &member) {
    if (SENNIT_UNLIKELY(affinity_on()))
        enter_place_slow(member);
}
// The caller is back from a region, in `member`.
void leave_region_slow(const Member &member);
inline void leave_region(const Member &member) {
    if (SENNIT_UNLIKELY(affinity_on()))
        leave_region_slow(member);
}

// Write the calling thread's affinity into a buffer, as snprintf does. Returns the whole length. If
// `format` is null or empty, affinity-format-var is the format.
std::size_t capture_affinity(char *buffer, std::size_t size, const char *format);
// Print it as a line, on the stream that the stock runtime uses.
void print_affinity(const char *format);

// A program that binds its threads to processors itself, in a region whose threads share workers
// (SENNIT_SPLIT). That ends splitting. But of the threads of that region those on one worker have
// undone each other's binding. So what each has asked for is kept, and the thread of this number is
// bound so when it next begins a region, on a worker of its own.

// The program has bound a thread: the calling one, or another.
void note_own_binding(bool of_caller, std::size_t bytes, const cpu_set_t *set);

// The calling thread begins a region as `member`.
void bind_as_bound(const Member &member);

} // namespace sennit::omp
