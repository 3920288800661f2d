/* SPDX-License-Identifier: Apache-2.0
 * test:
 * test: variant=sennit_accounts_split SENNIT_SPLIT=4
 * sennit.h: what a task creates works for the task's account, whoever runs it, and whenever. The
 * work is processor time, counted by who does it. So what a test expects is exact, and a busy
 * machine makes no difference; only what the runtime itself takes comes on top.
 */
#define _GNU_SOURCE
#include "processor_time.h"
#include "sennit_door.h"

#include <omp.h>

/* ns; the runtime's own time is small beside it */
enum { unit = 8000 * more_work, accounts = 4, tasks = 6 };

static uint32_t number[accounts];
static uint64_t worked[accounts]; /* atomic: as those saw it who worked */

static void work(int i, uint64_t ns) {
    const uint64_t took = work_for(ns);
#pragma omp atomic
    worked[i] += took;
}
static void open_all(void) {
    for (int i = 0; i < accounts; ++i) {
        worked[i] = 0;
        CHECK_EQ(DOOR(sennit_account_open)(&number[i]), SENNIT_SUCCESS);
    }
}
static uint64_t paid(int i) {
    uint64_t ns = 0;
    CHECK_EQ(DOOR(sennit_account_time)(number[i], &ns), SENNIT_SUCCESS);
    return ns;
}
/* No account misses any work, and none has another one's: each has twice as much as the one before,
 * and the runtime's own time is not as much as the least. */
static void check_and_close(const char *what) {
    for (int i = 0; i < accounts; ++i) {
        const uint64_t ns = paid(i);
        if (ns < worked[i] || ns > worked[i] + worked[i] / 2)
            printf("%s: account %d: worked %llu, paid %llu\n", what, i,
                   (unsigned long long)worked[i], (unsigned long long)ns);
        CHECK(worked[i] > 0 && ns >= worked[i] && ns <= worked[i] + worked[i] / 2);
        CHECK_EQ(DOOR(sennit_account_close)(number[i]), SENNIT_SUCCESS);
    }
}
static uint32_t switch_to(uint32_t account) {
    uint32_t before = 12345;
    CHECK_EQ(DOOR(sennit_work_for)(account, &before), SENNIT_SUCCESS);
    return before;
}

/* Created while an account is worked for, run when it is not: on any thread, in any order. */
static void tasks_that_run_later(void) {
    open_all();
#pragma omp parallel
#pragma omp single
    {
        for (int k = 0; k < tasks; ++k)
            for (int i = 0; i < accounts; ++i) {
                CHECK_EQ(switch_to(number[i]), 0);
#pragma omp task firstprivate(i)
                {
                    work(i, (1u << i) * 200 * unit);
#pragma omp task firstprivate(i)
                    work(i, (1u << i) * 200 * unit);
                    /* Nobody's: it is suspended. */
                    DOOR(sennit_task_wait_ns)(unit, NULL);
                    work(i, (1u << i) * 100 * unit);
                }
                CHECK_EQ(switch_to(0), number[i]);
            }
        work_for(2000 * unit); /* nobody's */
    }
    check_and_close("tasks");
}

/* Tasks with dependences, which others release: a task works for the account that it was created
 * for, not for that of the task before it (paper openmp-in-charm, 7). */
static void tasks_in_order(void) {
    int step[accounts] = {0}, last = 0;
    open_all();
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < tasks; ++k)
        for (int i = 0; i < accounts; ++i) {
            CHECK_EQ(switch_to(number[i]), 0);
            int *const other = k % 2 ? &last : &step[i]; /* the task before, of another account */
#pragma omp task firstprivate(i, k) shared(step) depend(inout : step[i]) depend(inout : *other)
            {
                CHECK_EQ(step[i], k);
                work(i, (1u << i) * 100 * unit);
                step[i] = k + 1;
            }
            CHECK_EQ(switch_to(0), number[i]);
        }
    check_and_close("tasks with dependences");
}

/* All threads of a region, and of one in it; barriers are nobody's. */
static void regions(void) {
    open_all();
    for (int i = 0; i < accounts; ++i) {
        CHECK_EQ(switch_to(number[i]), 0);
#pragma omp parallel num_threads(3)
        {
            work(i, (1u << i) * 200 * unit);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
            for (int k = 0; k < 4; ++k)
                work(i, (1u << i) * 100 * unit);
#pragma omp single
            {
#pragma omp parallel num_threads(2)
                work(i, (1u << i) * 200 * unit);
#pragma omp taskloop grainsize(1)
                for (int k = 0; k < 4; ++k)
                    work(i, (1u << i) * 100 * unit);
            }
        }
        CHECK_EQ(switch_to(0), number[i]);
#pragma omp parallel num_threads(3)
        work_for(300 * unit); /* nobody's */
    }
    check_and_close("regions");
}

/* Each thread of a region for its own, tasks that are run at once, and one account in another. */
static void threads_and_nesting(void) {
    open_all();
#pragma omp parallel for num_threads(accounts) schedule(static, 1)
    for (int i = 0; i < accounts; ++i) {
        switch_to(number[i]);
        work(i, (1u << i) * 500 * unit);
        if (i > 0) {
            CHECK_EQ(switch_to(number[i - 1]), number[i]);
#pragma omp task if (0)
            work(i - 1, 100 * unit);
            CHECK_EQ(switch_to(number[i]), number[i - 1]);
        }
#pragma omp task if (0)
        {
            work(i, 100 * unit);
#pragma omp task
            work(i, 100 * unit);
        }
#pragma omp taskwait
        CHECK_EQ(switch_to(0), number[i]);
    }
    check_and_close("threads");
}

/* What comes too late for an account is nobody's, and not the next one's in its place. */
static void closed_accounts(void) {
    uint32_t first, second;
    uint64_t ns = 1;
    CHECK_EQ(DOOR(sennit_account_open)(&first), SENNIT_SUCCESS);
    switch_to(first);
    work_for(100 * unit);
    CHECK_EQ(DOOR(sennit_account_time)(first, &ns), SENNIT_SUCCESS);
    CHECK(ns >= 100 * unit);
    CHECK_EQ(DOOR(sennit_account_close)(first), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_account_open)(&second), SENNIT_SUCCESS);
    CHECK(second != first && second != 0);
    work_for(100 * unit);
    switch_to(0);
    CHECK_EQ(DOOR(sennit_account_time)(second, &ns), SENNIT_SUCCESS);
    CHECK_EQ(ns, 0);
    CHECK_EQ(DOOR(sennit_account_close)(second), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_account_time)(first, &ns), SENNIT_SUCCESS);
    CHECK_EQ(ns, 0);
    /* More than a table's part. */
    enum { many = 3000 };
    static uint32_t all[many];
    for (int i = 0; i < many; ++i) {
        CHECK_EQ(DOOR(sennit_account_open)(&all[i]), SENNIT_SUCCESS);
        CHECK(all[i] != first && all[i] != second && (i == 0 || all[i] != all[i - 1]));
    }
    for (int i = 0; i < many; ++i)
        CHECK_EQ(DOOR(sennit_account_close)(all[i]), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_account_open)(NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_account_time)(first, NULL), SENNIT_ERR_PARAMETER);
}

/* To make a thread takes the runtime longer than anything else. */
static void make_threads(void) {
#pragma omp parallel num_threads(accounts)
#pragma omp parallel num_threads(2)
    work_for(unit);
}

int main(void) {
    make_threads();
    tasks_that_run_later();
    tasks_in_order();
    regions();
    threads_and_nesting();
    closed_accounts();
    return 0;
}
