/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_PLACES={0}:2,{0,1},{1},{0},!{9},{0,1},{1:2:-1} OMP_PROC_BIND=spread,primary
 *     OMP_MAX_ACTIVE_LEVELS=2 # stock libomp does not know clang's number for primary
 * OpenMP 5.2, 10.1.3: a proc_bind clause decides for its region, OMP_PROC_BIND's list for the
 * others, an entry a nesting level. Run with OMP_PROC_BIND=spread,primary OMP_MAX_ACTIVE_LEVELS=2
 * and more places than processors, which overlap.
 */
#define _GNU_SOURCE
#include "affinity.h"

/* Between floor and ceiling of places / threads. */
static void check_part(int part, int places, int threads) {
    if (threads > places)
        CHECK_EQ(part, 1);
    else
        CHECK(part >= places / threads && part <= (places + threads - 1) / threads);
}

/* The calling thread's place is in its partition, which is a range. */
static void check_partition(void) {
    const int count = omp_get_partition_num_places();
    int *numbers = calloc((size_t)count, sizeof *numbers);
    int found = 0;
    CHECK(numbers);
    omp_get_partition_place_nums(numbers);
    for (int i = 0; i < count; ++i) {
        CHECK_EQ(numbers[i], numbers[0] + i);
        found += numbers[i] == omp_get_place_num();
    }
    CHECK_EQ(found, 1);
    free(numbers);
    check_bound_to(omp_get_place_num());
}

int main(void) {
    const int places = omp_get_num_places();
    const int threads = check_threads();
    omp_set_dynamic(0);
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_spread);

    for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(threads) /* spread, by the list */
        {
            const int outer_place = omp_get_place_num();
            const int outer_part = omp_get_partition_num_places();
            CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_master);
            check_part(outer_part, places, threads);
            check_partition();
#pragma omp parallel num_threads(2) /* primary, by the list */
            {
                CHECK_EQ(omp_get_place_num(), outer_place);
                CHECK_EQ(omp_get_partition_num_places(), outer_part);
                check_bound_to(outer_place);
            }
#pragma omp parallel num_threads(3) proc_bind(spread)
            {
                check_part(omp_get_partition_num_places(), outer_part, 3);
                check_partition();
            }
#pragma omp parallel num_threads(2) proc_bind(close)
            {
                CHECK_EQ(omp_get_partition_num_places(), outer_part);
                check_partition();
            }
            CHECK_EQ(omp_get_place_num(), outer_place);
            check_bound_to(outer_place);
        }
#pragma omp parallel num_threads(threads) proc_bind(primary)
        {
            CHECK_EQ(omp_get_place_num(), 0);
            check_bound_to(0);
            CHECK_EQ(omp_get_partition_num_places(), places);
        }
#pragma omp parallel num_threads(threads) proc_bind(master)
        check_bound_to(0);
#pragma omp parallel for num_threads(threads) proc_bind(close) schedule(static, 1)
        for (int i = 0; i < threads; ++i) {
            if (threads <= places)
                CHECK_EQ(omp_get_place_num(), i);
            check_bound_to(omp_get_place_num());
        }
#pragma omp parallel if (0) proc_bind(spread)
        {
            CHECK_EQ(omp_get_partition_num_places(), places);
            CHECK_EQ(omp_get_place_num(), 0);
        }
    }
    return 0;
}
