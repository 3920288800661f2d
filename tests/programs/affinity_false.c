/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_PLACES=threads OMP_PROC_BIND=false
 * OpenMP 5.2, 21.1.5: with OMP_PROC_BIND=false threads move freely and proc_bind clauses mean
 * nothing. Run with OMP_PROC_BIND=false OMP_PLACES=threads.
 */
#define _GNU_SOURCE
#include "affinity.h"

int main(void) {
    cpu_set_t before;
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
#pragma omp parallel proc_bind(spread)
    {
        cpu_set_t now;
        CHECK_EQ(sched_getaffinity(0, sizeof now, &now), 0);
        CHECK(CPU_EQUAL(&before, &now));
        CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
    }
    return 0;
}
