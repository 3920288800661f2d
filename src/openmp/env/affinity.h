// SPDX-License-Identifier: Apache-2.0
// Places that threads can be bound to (OpenMP 5.2, 10.1.3): what the environment asks for, and
// binding the calling thread. Which place a thread of a team gets is in openmp/team/placement.h.
#pragma once

#include "openmp/env/places.h"

namespace sennit::omp {

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
inline bool affinity_on() {
    return __atomic_load_n(&g_affinity_on, __ATOMIC_RELAXED);
}
// From now on threads look for what they are bound to when a region begins.
void look_at_affinity();

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

bool bound_in_regions_only(); // the initial thread; KMP_AFFINITY=reset

// The place that the calling thread is bound to, -1: to none.
int bound_place();
void bind_to_place(int place);
// The calling thread is one that serves all places.
void leave_places();
// The NUMA domain of a place whose threads have a queue of their own; -1: all share one.
int domain_of_place(int place);

CpuSet processors_of_caller();         // the calling thread's, as the system says
const CpuSet &processors_of_process(); // when it started
} // namespace sennit::omp
