/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 10.1 (parallel): the if and num_threads clauses set the team's size; shared, private,
 * firstprivate and reduction give each thread the storage that 5.4 and 5.5 promise.
 */
#include "check.h"

static void if_false_makes_a_team_of_one(void) {
    int members = 0;
#pragma omp parallel if (0) num_threads(4) reduction(+ : members)
    {
        CHECK_EQ(omp_get_num_threads(), 1);
        CHECK_EQ(omp_get_thread_num(), 0);
        CHECK(!omp_in_parallel());
        members += 1;
    }
    CHECK_EQ(members, 1);
}

static void num_threads_is_the_size_of_the_team(void) {
    for (int size = 1; size <= 16; ++size) {
        int seen[16] = {0};
#pragma omp parallel num_threads(size) default(none) shared(seen, size)
        {
            CHECK_EQ(omp_get_num_threads(), size);
            CHECK_EQ(omp_in_parallel(), size > 1);
#pragma omp atomic
            seen[omp_get_thread_num()] += 1;
        }
        for (int thread = 0; thread < 16; ++thread)
            CHECK_EQ(seen[thread], thread < size);
    }
}

static void data_sharing_clauses(void) {
    int shared_sum = 0, given = 42, own = 7, product = 2, any = 0;
    double least = 1e9;
#pragma omp parallel default(none) shared(shared_sum) firstprivate(given) private(own)             \
    reduction(* : product) reduction(| : any) reduction(min : least)
    {
        CHECK_EQ(given, 42);
        given += omp_get_thread_num();
        own = given;
        product *= 1;
        any |= 1 << omp_get_thread_num();
        least = -own;
#pragma omp atomic
        shared_sum += own - 42;
    }
    const int threads = check_threads();
    CHECK_EQ(given, 42);
    CHECK_EQ(own, 7);
    CHECK_EQ(product, 2);
    CHECK_EQ(any, (1 << threads) - 1);
    CHECK(least == -(42 + threads - 1));
    CHECK_EQ(shared_sum, threads * (threads - 1) / 2);
}

static void proc_bind_does_not_change_the_team(void) {
    int members = 0;
#pragma omp parallel proc_bind(close) num_threads(3) reduction(+ : members)
    members += 1;
#pragma omp parallel proc_bind(spread) num_threads(3) reduction(+ : members)
    members += 1;
#pragma omp parallel proc_bind(master) num_threads(3) reduction(+ : members)
    members += 1;
    CHECK_EQ(members, 9);
}

int main(void) {
    omp_set_dynamic(0);
    if_false_makes_a_team_of_one();
    num_threads_is_the_size_of_the_team();
    data_sharing_clauses();
    proc_bind_does_not_change_the_team();
    return 0;
}
