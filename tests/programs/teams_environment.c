// SPDX-License-Identifier: Apache-2.0
// test: OMP_NUM_TEAMS=3 OMP_TEAMS_THREAD_LIMIT=2 # stock libomp forms smaller leagues
// OpenMP 5.2, 2.2, 21.6: OMP_NUM_TEAMS and OMP_TEAMS_THREAD_LIMIT hold for teams constructs without
// the clause; clauses and routines come first. Run with OMP_NUM_TEAMS=3 OMP_TEAMS_THREAD_LIMIT=2.
#include "check.h"

static int leagues, most_threads;

static void in_team(int threads) {
#pragma omp atomic write
    leagues = omp_get_num_teams();
#pragma omp critical
    if (threads > most_threads)
        most_threads = threads;
}

static void without_clauses(int teams, int limit) {
    leagues = most_threads = 0;
#pragma omp teams
    {
        int threads = 0;
#pragma omp parallel num_threads(limit + 2)
#pragma omp single
        threads = omp_get_num_threads();
        in_team(threads);
    }
    CHECK_EQ(leagues, teams);
    CHECK(most_threads >= 1 && most_threads <= limit);
}

int main(void) {
    omp_set_dynamic(0);
    CHECK_EQ(omp_get_max_teams(), 3);
    CHECK_EQ(omp_get_teams_thread_limit(), 2);
    without_clauses(3, 2);
#pragma omp teams num_teams(2)
    in_team(1);
    CHECK_EQ(leagues, 2);
    omp_set_num_teams(4);
    omp_set_teams_thread_limit(3);
    CHECK_EQ(omp_get_max_teams(), 4);
    CHECK_EQ(omp_get_teams_thread_limit(), 3);
    without_clauses(4, 3);
    return 0;
}
