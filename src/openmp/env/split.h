// SPDX-License-Identifier: Apache-2.0
// SENNIT_SPLIT=K or auto: what asks for the environment's P threads gets K * P, which run on P
// workers (openmp/team/virtual_team.h). For the program this is OMP_NUM_THREADS=K*P,P.
// SENNIT_SPLIT=inner, or auto: regions inside of regions have several threads if idle workers can
// run them (openmp/team/inner_regions.h). For the program this is a larger OMP_MAX_ACTIVE_LEVELS.
#pragma once

#include "base/compiler.h"

namespace sennit::omp {

namespace detail {
// What the environment says, and what has been found out since.
struct SplitSettings {
    int workers = 0;
    bool adapts = false;
    bool inner = false;
    bool lends_loops = false;
    bool regions_differ = false;
    bool refused = false;
    bool keeps_size = false;
};
// Hidden: tested in memory by each region.
[[gnu::visibility("hidden")]] extern SplitSettings g_split;
} // namespace detail

// Do regions pay for what few have: threads are split, a trace is recorded, tasks work for
// accounts, free agents wait for the end of regions?
inline bool regions_differ() {
#if SENNIT_TSAN
    return __atomic_load_n(&detail::g_split.regions_differ, __ATOMIC_RELAXED);
#else
    return detail::g_split.regions_differ;
#endif
}
// From now on. A region that has begun before may end as one that does.
inline void let_regions_differ() {
    __atomic_store_n(&detail::g_split.regions_differ, true, __ATOMIC_RELAXED);
}

// Regions of more threads than these have so many workers; 0: threads are not split.
inline int split_workers() {
    return detail::g_split.workers;
}

// auto: do workers offer others so many of their threads only as were taken lately?
inline bool split_adapts() {
    return detail::g_split.adapts;
}

// inner, auto: are regions inside of regions cut?
inline bool split_inner() {
    return detail::g_split.inner;
}
// Are threads split at all, so that several of them share a worker?
inline bool splits_threads() {
    return split_workers() != 0 || split_inner();
}

// SENNIT_SPLIT=loops: threads are not split, but static loops that the plug-in has let go are.
inline bool lends_loops() {
    return detail::g_split.lends_loops;
}

// The environment says that regions have so many threads: how many are they to have, if that is
// asked for and the program allows it?
int split_threads(int threads);
// Before a region of virtual threads begins: has the program opened a library whose data they would
// share? Then no more such regions, and a line says so.
bool split_ends();
// The threads of `region` spin on each other: no more such regions from now on, and a line says so.
void end_split(const char *region);
// The program binds its threads to processors itself. Threads on one worker would undo each other's
// binding: no more such regions from now on, and a line says so.
void end_split_of_bound_threads();
// Threads keep values from region to region: if splitting ends, regions have as many as before,
// each on a worker of its own.
void keep_split_size();
// icv.cpp: so many threads has from now on who has changed no setting of its own.
void set_threads_of_environment(int threads);
// It is not to be: a line says why. Returns how many threads the environment has said, 0 where none
// are split.
int refuse_split(const char *why);

} // namespace sennit::omp
