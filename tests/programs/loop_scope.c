// SPDX-License-Identifier: Apache-2.0
// test, tool:
// OpenMP 5.2, 11.7 (loop, with each binding), 10.3 (order(concurrent)) and, where the compiler has
// it, 11.2 (scope with reductions and nowait).
#include "check.h"

enum { n = 1000 };

static int hits[n];

static void expect(int times) {
    for (int i = 0; i < n; ++i) {
        CHECK_EQ(hits[i], times);
        hits[i] = 0;
    }
}

static void loops(void) {
    int sum = 0;
#pragma omp parallel
    {
#pragma omp loop bind(parallel)
        for (int i = 0; i < n; ++i)
            ++hits[i];
#pragma omp loop reduction(+ : sum)
        for (int i = 0; i < n; ++i)
            sum += hits[i];
    }
    CHECK_EQ(sum, n);
    expect(1);
#pragma omp loop bind(thread)
    for (int i = 0; i < n; ++i)
        ++hits[i];
#pragma omp parallel loop collapse(2)
    for (int i = 0; i < n / 10; ++i)
        for (int j = 0; j < 10; ++j)
            ++hits[10 * i + j];
#pragma omp teams num_teams(3)
#pragma omp loop bind(teams)
    for (int i = 0; i < n; ++i)
        ++hits[i];
#pragma omp teams loop num_teams(2)
    for (int i = 0; i < n; ++i)
        ++hits[i];
    expect(4);
#pragma omp parallel for order(concurrent) schedule(dynamic, 3)
    for (int i = 0; i < n; ++i)
        ++hits[i];
    expect(1);
}

#ifndef __clang__ // clang 19 cannot compile scope
static void scopes(int threads) {
    int sum = 0, left = 0;
#pragma omp parallel num_threads(threads) shared(left)
    {
#pragma omp scope reduction(+ : sum)
        sum += omp_get_thread_num() + 1;
        CHECK_EQ(sum, threads * (threads + 1) / 2);
#pragma omp scope nowait
        {
#pragma omp atomic
            ++left;
        }
#pragma omp barrier
        CHECK_EQ(left, threads);
    }
    int tasks = 0;
#pragma omp parallel num_threads(threads)
#pragma omp scope reduction(task, + : tasks)
    {
#pragma omp task in_reduction(+ : tasks)
        ++tasks;
    }
    CHECK_EQ(tasks, threads);
}
#else
static void scopes(int threads) {
    (void)threads;
}
#endif

int main(void) {
    omp_set_dynamic(0);
    loops();
    for (int round = 0; round < 50; ++round)
        scopes(check_threads());
    return 0;
}
