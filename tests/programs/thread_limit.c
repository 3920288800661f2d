/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_THREAD_LIMIT=6
 *
 * OpenMP 5.2, 2.3 and 10.1.1: the regions of a contention group together never have more threads
 * than thread-limit-var, however they nest and whichever of them begin at the same time; a league's
 * teams have a limit of their own. Run with OMP_THREAD_LIMIT=6.
 */
#include "check.h"

static int now, most;

static void count_in(void) {
    int v;
#pragma omp atomic capture
    v = ++now;
#pragma omp critical
    if (v > most)
        most = v;
}

static void count_out(void) {
#pragma omp atomic
    --now;
}

static void nested(int limit) {
    now = most = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp parallel num_threads(3)
        {
#pragma omp parallel num_threads(2)
            {
                count_in();
#pragma omp barrier
                count_out();
            }
        }
    }
    CHECK(most <= limit);
    CHECK(most >= 1);
}

static void in_team(void) {
    CHECK_EQ(omp_get_thread_limit(), 3);
    int size = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    size = omp_get_num_threads();
    CHECK_EQ(size, 3);
    if (omp_get_team_num() == 0)
        nested(3);
}

int main(void) {
    CHECK_EQ(omp_get_thread_limit(), 6);
    omp_set_dynamic(0);
    omp_set_max_active_levels(4);
    for (int round = 0; round < 50; ++round) {
        int threads = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
        threads = omp_get_num_threads();
        CHECK_EQ(threads, 4);
#pragma omp parallel num_threads(20)
#pragma omp single
        threads = omp_get_num_threads();
        CHECK(threads <= 6);
        nested(6);
#pragma omp teams num_teams(2) thread_limit(3)
        in_team();
        CHECK_EQ(omp_get_thread_limit(), 6);
    }
    return 0;
}
