/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_PLACES=threads OMP_PROC_BIND=true
 * OpenMP 5.2, 21.2.4: the policy of OMP_PROC_BIND=true is the implementation's choice, and is what
 * the runtime is for which Sennit stands: libgomp wraps around, libomp spreads, so that a nested
 * team stays in the part of the places that its first thread has.
 */
#define _GNU_SOURCE
#include "affinity.h"

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    const int places = omp_get_num_places();
#ifdef __clang__
    const omp_proc_bind_t policy = omp_proc_bind_spread;
    const int part = places > 1 ? (places + 1) / 2 : 1;
#else
    const omp_proc_bind_t policy = omp_proc_bind_true;
    const int part = places;
#endif
    CHECK_EQ(omp_get_proc_bind(), policy);
#pragma omp parallel num_threads(2)
    {
        CHECK_EQ(omp_get_proc_bind(), policy);
        const int mine = omp_get_partition_num_places();
        CHECK(mine == part || mine == places - part);
        int own[2] = {-1, -1};
        omp_get_partition_place_nums(mine <= 2 ? own : (int[MOST_PROCS]){0});
#pragma omp parallel num_threads(2)
        {
            check_bound_to(omp_get_place_num());
            if (mine == 1)
                CHECK_EQ(omp_get_place_num(), own[0]);
        }
    }
    return 0;
}
