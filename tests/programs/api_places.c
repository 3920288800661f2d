/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 18.3 (thread affinity routines): places, where there are any, hold processors of this
 * machine; the calls agree with each other.
 */
#include "check.h"

int main(void) {
    const int places = omp_get_num_places();
    CHECK(places >= 0);
    CHECK(omp_get_proc_bind() >= omp_proc_bind_false);
    for (int place = 0; place < places; ++place) {
        const int procs = omp_get_place_num_procs(place);
        int ids[1024];
        CHECK(procs >= 1 && procs <= 1024);
        omp_get_place_proc_ids(place, ids);
        for (int p = 0; p < procs; ++p)
            CHECK(ids[p] >= 0);
    }
    CHECK_EQ(omp_get_place_num_procs(-1), 0);
    CHECK_EQ(omp_get_place_num_procs(places), 0);
    CHECK(omp_get_place_num() >= -1 && omp_get_place_num() < (places ? places : 1));
    const int partition = omp_get_partition_num_places();
    CHECK(partition >= 0 && partition <= places);
    return 0;
}
