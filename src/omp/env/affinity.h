// SPDX-License-Identifier: Apache-2.0
// Binding threads to places (OpenMP 5.2, 10.1.3) and showing where they are (21.2).
//
// fork() notes the policy and the encountering thread's placement in the team. From these each
// thread finds its own place when it enters the region. It moves only if that place changed. Where
// neither binding nor display is asked for, all of this is one flag that is false.
#pragma once

#include "base/compiler.h"
#include "omp/env/places.h"

namespace sennit::omp {

struct Member;
struct Team;

// What the placement of a team's threads depends on; the last region's, compared with the next's.
struct TeamPlacement {
    ProcBind policy = ProcBind::false_;
    Placement parent;
    int level = -1;
    int parent_thread = -1; // the encountering thread's number in its team
    bool changed = false;   // the threads of this region have to look at it
    bool operator==(const TeamPlacement &) const = default;
};

extern bool g_affinity_on; // threads are bound, or their affinity is displayed

// KMP_HW_SUBSET: the processors that this process uses; once, before anybody asks for their number.
void choose_processors();
// Reads OMP_PROC_BIND, OMP_PLACES and the like and binds the calling thread, the initial one; once,
// from icv_setup().
void affinity_setup();

const BindList &bind_list();   // bind-var of the initial task
const PlaceList &place_list(); // its place-partition-var
// The abstract name that it was made of, null for an explicit list.
const char *place_list_name();
bool display_affinity(); // display-affinity-var

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
// A thread that serves all places.
void leave_places();
// The caller is back from a region, in `member`.
void leave_region_slow(const Member &member);
inline void leave_region(const Member &member) {
    if (SENNIT_UNLIKELY(g_affinity_on))
        leave_region_slow(member);
}

CpuSet processors_of_caller();         // the calling thread's, as the system says
const CpuSet &processors_of_process(); // when it started
// The processors that the calling thread may run on, as %A shows them.
CpuSet processors_of_thread(const Member &member);

} // namespace sennit::omp
