/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_PLACES=threads OMP_PROC_BIND=close
 * OpenMP 5.2, 10.1.3, policy close: consecutive threads go to consecutive places, from the place of
 * the encountering thread on and round; more threads than places share them evenly. 18.3: the
 * routines say where. Run with OMP_PLACES=threads OMP_PROC_BIND=close.
 */
#define _GNU_SOURCE
#include "affinity.h"

static void check_team(int threads) {
    const int places = omp_get_num_places();
    int *where = calloc((size_t)threads, sizeof *where);
    int *on = calloc((size_t)places, sizeof *on);
    CHECK(where && on);
#pragma omp parallel num_threads(threads)
    {
        CHECK_EQ(omp_get_num_threads(), threads);
        const int place = omp_get_place_num();
        CHECK(place >= 0 && place < places);
        check_bound_to(place);
        where[omp_get_thread_num()] = place;
        CHECK_EQ(omp_get_partition_num_places(), places);
        CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close);
    }
    CHECK_EQ(where[0], 0);
    for (int i = 0; i < threads; ++i) {
        ++on[where[i]];
        if (threads <= places)
            CHECK_EQ(where[i], i);
    }
    for (int place = 0; place < places; ++place)
        CHECK(on[place] >= threads / places && on[place] <= (threads + places - 1) / places);
    free(where);
    free(on);
}

int main(void) {
    const int places = omp_get_num_places();
    omp_set_dynamic(0);
    CHECK(places >= 1);
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close);
    CHECK_EQ(omp_get_place_num(), 0);
    check_bound_to(0);
    for (int place = 0; place < places; ++place)
        CHECK_EQ(omp_get_place_num_procs(place), 1);

    int *numbers = calloc((size_t)places, sizeof *numbers);
    CHECK_EQ(omp_get_partition_num_places(), places);
    omp_get_partition_place_nums(numbers);
    for (int place = 0; place < places; ++place)
        CHECK_EQ(numbers[place], place);
    free(numbers);

    check_team(check_threads());
    check_team(2 * places);
    check_team(places);
    check_team(check_threads());
    check_team(3 * places + 1);
    check_bound_to(0);

    /* A place of no machine. */
    CHECK_EQ(omp_get_place_num_procs(-1), 0);
    CHECK_EQ(omp_get_place_num_procs(places), 0);
    return 0;
}
