/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of thread affinity share. Needs _GNU_SOURCE before the first header.
 */
#ifndef AFFINITY_H
#define AFFINITY_H

#include "check.h"

#include <sched.h>

enum { MOST_PROCS = 8192 };

/* The calling thread may run on the processors of `place` and on no others. */
static inline void check_bound_to(int place) {
    int ids[MOST_PROCS];
    const int procs = omp_get_place_num_procs(place);
    unsigned char set[MOST_PROCS / 8];
    CHECK(procs >= 1 && procs <= MOST_PROCS);
    omp_get_place_proc_ids(place, ids);
    CHECK_EQ(sched_getaffinity(0, sizeof set, (cpu_set_t *)set), 0);
    CHECK_EQ(CPU_COUNT_S(sizeof set, (cpu_set_t *)set), procs);
    for (int i = 0; i < procs; ++i)
        CHECK(CPU_ISSET_S((size_t)ids[i], sizeof set, (cpu_set_t *)set));
}

#endif
