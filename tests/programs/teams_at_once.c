/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang # libgomp runs them one after the other, and so do we
 * test: KMP_TEAMS_THREAD_LIMIT=4
 * test: variant=primary KMP_TEAMS_THREAD_LIMIT=4 OMP_PLACES=threads KMP_TEAMS_PROC_BIND=primary
 * OpenMP 5.2, 10.2: the teams of a league run at once when there are threads for them, as in LLVM's
 * runtime; what they reduce is whole, and each forks regions of its own. Run with
 * KMP_TEAMS_THREAD_LIMIT=4, and with OMP_PLACES=threads KMP_TEAMS_PROC_BIND=primary.
 */
#include "check.h"
#include <sched.h>

enum { most = 4, rounds = 200 };

/* Nobody goes on before all teams are here. */
static void meet(int *arrived, int teams) {
    __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < teams)
        sched_yield();
}

static void they_run_at_once(void) {
    static int arrived, numbers[most];
    arrived = 0;
#pragma omp teams num_teams(most)
    {
        CHECK_EQ(omp_get_num_teams(), most);
        CHECK_EQ(omp_get_level(), 0);
        CHECK_EQ(omp_get_num_threads(), 1);
        meet(&arrived, most);
        numbers[omp_get_team_num()] += 1;
    }
    for (int i = 0; i < most; ++i) {
        CHECK_EQ(numbers[i], 1);
        numbers[i] = 0;
    }
}

static void reductions_are_whole(void) {
    long sum = 0;
    double product = 1;
#pragma omp teams distribute parallel for num_teams(most) reduction(+ : sum) reduction(* : product)
    for (int i = 0; i < 100; ++i) {
        sum += i;
        product *= i % 10 == 0 ? 2 : 1;
    }
    CHECK_EQ(sum, 4950);
    CHECK(product == 1024);
}

static void each_forks_its_own(void) {
    int threads = 0;
#pragma omp teams num_teams(most) thread_limit(3) reduction(+ : threads)
    {
        const int team = omp_get_team_num();
#pragma omp parallel num_threads(3) reduction(+ : threads)
        {
            CHECK_EQ(omp_get_level(), 1);
            CHECK_EQ(omp_get_team_num(), team);
            CHECK_EQ(omp_get_num_teams(), most);
            CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
            CHECK_EQ(omp_get_team_size(0), 1);
            threads += 1;
        }
    }
    CHECK_EQ(threads, 3 * most);
}

static void teams_are_where_the_environment_says(void) {
    const char *bind = getenv("KMP_TEAMS_PROC_BIND");
    if (!bind)
        return;
    const int place = omp_get_place_num(), places = omp_get_num_places();
    CHECK(place >= 0);
#pragma omp teams num_teams(most)
    {
        const int here = omp_get_place_num(), count = omp_get_partition_num_places();
        CHECK_EQ(here, place);
        CHECK_EQ(count, places);
    }
}

/* More teams than threads for them: some come one after the other. */
static void more_than_threads(void) {
    int teams = 0, numbers = 0;
#pragma omp teams num_teams(3 * most + 1) reduction(+ : teams, numbers)
    {
        teams += 1;
        numbers += omp_get_team_num();
    }
    CHECK_EQ(teams, 3 * most + 1);
    CHECK_EQ(numbers, 3 * most * (3 * most + 1) / 2);
}

int main(void) {
    teams_are_where_the_environment_says();
    for (int round = 0; round < rounds; ++round) {
        they_run_at_once();
        reductions_are_whole();
        each_forks_its_own();
        more_than_threads();
    }
    return 0;
}
