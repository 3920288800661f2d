/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 12.5 (task): if(0) makes an undeferred task, final an included task whose descendants
 * are final too; untied, mergeable, priority and affinity change no result; data-sharing clauses
 * capture at creation.
 */
#include "check.h"

static void undeferred_tasks_complete_at_once(void) {
    int done = 0;
    const int me = omp_get_thread_num();
#pragma omp task if (0) shared(done)
    {
        CHECK_EQ(omp_get_thread_num(), me);
        CHECK(!omp_in_final());
#pragma omp task shared(done)
        {
#pragma omp atomic
            done += 1;
        }
#pragma omp taskwait
        done += 10;
    }
    CHECK_EQ(done, 11);
}

static void final_tasks_include_their_descendants(void) {
    int order = 0;
    CHECK(!omp_in_final());
#pragma omp task final(1) shared(order)
    {
        CHECK(omp_in_final());
        const int me = omp_get_thread_num();
#pragma omp task shared(order)
        {
            CHECK(omp_in_final());
            CHECK_EQ(omp_get_thread_num(), me);
#pragma omp task untied shared(order)
            {
                CHECK(omp_in_final());
                order = 1;
            }
            CHECK_EQ(order, 1);
            order = 2;
        }
        CHECK_EQ(order, 2);
        order = 3;
    }
#pragma omp taskwait
    CHECK_EQ(order, 3);
    CHECK(!omp_in_final());
#pragma omp task final(0)
    CHECK(!omp_in_final());
#pragma omp taskwait
}

/* Only the tasks inside a final task are included; itself it is deferred as any other (12.3). This
 * never ends where the creator waits for it. */
static void final_tasks_are_deferred(void) {
    int go = 0, done = 0;
#pragma omp task final(1) shared(go, done)
    {
        int seen = 0;
        while (!seen) {
#pragma omp taskyield
#pragma omp atomic read
            seen = go;
        }
        done = seen;
    }
#pragma omp taskloop final(1) grainsize(1) shared(go, done) nogroup
    for (int i = 0; i < 4; ++i) {
        int seen = 0;
        while (!seen) {
#pragma omp taskyield
#pragma omp atomic read
            seen = go;
        }
        CHECK(omp_in_final());
    }
#pragma omp atomic write
    go = 1;
#pragma omp taskwait
    CHECK_EQ(done, 1);
}

static void hints_change_no_result(void) {
    int sum = 0, list[40];
    for (int i = 0; i < 40; ++i)
        list[i] = i;
    for (int i = 0; i < 40; ++i) {
#pragma omp task untied mergeable priority(i % 5) affinity(list[i]) shared(sum, list)
        {
#pragma omp taskyield
#pragma omp atomic
            sum += list[i];
        }
    }
#pragma omp taskwait
    CHECK_EQ(sum, 780);
}

static void firstprivate_is_captured_at_creation(void) {
    int results[100];
    struct {
        int list[300];
    } big = {{0}};
    for (int i = 0; i < 100; ++i) {
        big.list[299] = i;
#pragma omp task firstprivate(big) shared(results)
        results[i] = big.list[299] * 2;
    }
    big.list[299] = -1;
#pragma omp taskwait
    for (int i = 0; i < 100; ++i)
        CHECK_EQ(results[i], 2 * i);
}

static void every_clause(void) {
    undeferred_tasks_complete_at_once();
    final_tasks_include_their_descendants();
    final_tasks_are_deferred();
    hints_change_no_result();
    firstprivate_is_captured_at_creation();
}

int main(void) {
#pragma omp parallel
#pragma omp single
    every_clause();
#pragma omp parallel
    every_clause();
    every_clause();
    return 0;
}
