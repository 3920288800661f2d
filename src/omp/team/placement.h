// SPDX-License-Identifier: Apache-2.0
// Where the threads of a region go (OpenMP 5.2, 10.1.3), and showing where they are (21.2).
//
// fork() notes the policy and the encountering thread's placement in the team. From them each
// thread finds its own place when it enters the region, and moves only if that changed. Where
// neither binding nor display is asked for, all of this is one flag that is false.
#pragma once

#include "base/compiler.h"
#include "omp/env/affinity.h"

#include <cstddef>

namespace sennit::omp {

struct Member;
struct Team;

// A proc_bind clause (omp_proc_bind_t; 0 is none) for the next region that this thread starts.
void announce_proc_bind_slow(int policy);
inline void announce_proc_bind(int policy) {
    if (SENNIT_UNLIKELY(g_affinity_on) && policy != 0)
        announce_proc_bind_slow(policy);
}

// Before the threads of `team` begin a region: where they go.
void place_team_slow(Team &team, Member &encountering);
inline void place_team(Team &team, Member &encountering) {
    if (SENNIT_UNLIKELY(g_affinity_on))
        place_team_slow(team, encountering);
}
// On each thread, when its implicit task begins.
void enter_place_slow(Member &member);
inline void enter_place(Member &member) {
    if (SENNIT_UNLIKELY(g_affinity_on))
        enter_place_slow(member);
}
// The caller is back from a region, in `member`.
void leave_region_slow(const Member &member);
inline void leave_region(const Member &member) {
    if (SENNIT_UNLIKELY(g_affinity_on))
        leave_region_slow(member);
}

// The calling thread's text into a buffer, as snprintf does; its whole length. No format:
// affinity-format-var.
std::size_t capture_affinity(char *buffer, std::size_t size, const char *format);
// That as a line, where the stock runtimes put it.
void print_affinity(const char *format);

} // namespace sennit::omp
