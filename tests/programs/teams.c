// SPDX-License-Identifier: Apache-2.0
// test, tool:
// OpenMP 5.2, 10.2, 11.6: teams on the host, distribute in all its forms, and what the routines say
// inside.
#include "check.h"

enum { n = 1000, most = 64 };

static int seen[most], total, size = -1;

// Only parallel, distribute and a few routines may stand in a teams region itself.
static void in_team(int team, int teams) {
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK(omp_get_thread_limit() <= 3);
    CHECK(team >= 0 && team < teams);
#pragma omp atomic write
    size = teams;
#pragma omp atomic
    ++seen[team];
}

static int counted;
static void count(void) {
#pragma omp atomic
    ++counted;
}

int main(void) {
#pragma omp teams num_teams(4) thread_limit(3)
    {
        const int team = omp_get_team_num();
        const int teams = omp_get_num_teams();
        in_team(team, teams);
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_level(), 1);
            CHECK_EQ(omp_get_team_num(), team);
            CHECK_EQ(omp_get_num_teams(), teams);
#pragma omp atomic
            ++total;
        }
    }
    CHECK(size >= 1 && size <= 4);
    CHECK(total >= size);
    for (int i = 0; i < size; ++i)
        CHECK_EQ(seen[i], 1);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_get_team_num(), 0);

    static int hits[n];
    int last = -1;
#pragma omp teams distribute num_teams(3) lastprivate(last)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        ++hits[i];
        last = i;
    }
    CHECK_EQ(last, n - 1);
#pragma omp teams distribute dist_schedule(static, 7) num_teams(3)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        ++hits[i];
    }
    long sum = 0;
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        ++hits[i];
        sum += i;
        last = 2 * i;
    }
    CHECK_EQ(last, 2 * (n - 1));
    CHECK_EQ(sum, (long)n * (n - 1) / 2);
#pragma omp teams distribute parallel for schedule(dynamic, 3) num_teams(5)
    for (int i = n - 1; i >= 0; i -= 1) {
#pragma omp atomic
        ++hits[i];
    }
    for (int i = 0; i < n; ++i)
        CHECK_EQ(hits[i], 4);

    omp_set_num_teams(2);
    CHECK_EQ(omp_get_max_teams(), 2);
#pragma omp teams
    count();
    CHECK(counted >= 1 && counted <= 2);
    return 0;
}
