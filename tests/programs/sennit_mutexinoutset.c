/* SPDX-License-Identifier: Apache-2.0
 * test:
 * test: variant=sa|fa threads=1|2 SENNIT_POLICY={variant} OMP_MAX_TASK_PRIORITY=10
 * Tasks that hold a mutexinoutset item and wait, while others wait for the item: their priorities
 * change meanwhile, those who can have their items get them, and undeferred tasks let others run.
 */
#include "sennit_door.h"

static void let_others_run(int times) {
    for (int i = 0; i < times; ++i) {
#pragma omp taskyield
    }
}

static void wait_for(const int *flag, int value) {
    int now = 0;
    while (now < value) {
#pragma omp taskyield
#pragma omp atomic read
        now = *flag;
    }
}

static void set(int *flag) {
#pragma omp atomic
    *flag += 1;
}

enum { kWaiters = 6, kRounds = 4 };

/* Behind those who wait comes a task that sends, as its clause says (sa) or as was learned in the
 * first round (fa): all who lead to it become urgent. */
static void priorities_change(void) {
    int item = 0, go = 0;
    for (int i = 0; i < kWaiters; ++i) {
#pragma omp task depend(mutexinoutset : item) shared(item, go)
        {
            wait_for(&go, 1);
            item += 1;
        }
    }
    let_others_run(4 * kWaiters);
#pragma omp task depend(inout : item) shared(item) priority(1)
    {
        CHECK_EQ(item, kWaiters);
        DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
    }
    set(&go);
#pragma omp taskwait
    CHECK_EQ(item, kWaiters);
}

/* The task that holds `b` waits for two that need `a` alone. Among those who wait for `a` is one
 * that needs both: it must not stand in the way of the others. */
static void one_of_two_is_held(char *a, char *b) {
    int begun = 0, go = 0, done = 0, held = 0;
    *a = *b = 0;
#pragma omp task depend(mutexinoutset : a[0]) shared(begun, go)
    {
        set(&begun);
        wait_for(&go, 1);
    }
    wait_for(&begun, 1);
    for (int i = 0; i < 3; ++i) {
        if (i == 1) {
#pragma omp task depend(mutexinoutset : a[0], b[0])
            *a += *b;
        } else {
#pragma omp task depend(mutexinoutset : a[0]) shared(done)
            set(&done);
        }
        let_others_run(4);
    }
#pragma omp task depend(mutexinoutset : b[0]) shared(done, held)
    {
        set(&held);
        wait_for(&done, 2);
        *b = 1;
    }
    wait_for(&held, 1);
    set(&go);
#pragma omp taskwait
    CHECK_EQ(*a, 1);
}

/* The holder waits for what the creator's thread has to run meanwhile. */
static void undeferred(void) {
    int item = 0, begun = 0, go = 0;
#pragma omp task depend(mutexinoutset : item) shared(item, begun, go)
    {
        set(&begun);
        wait_for(&go, 1);
        item += 1;
    }
    wait_for(&begun, 1);
#pragma omp task shared(go)
    set(&go);
#pragma omp task if (0) depend(mutexinoutset : item) shared(item)
    {
        CHECK_EQ(item, 1);
        item += 1;
    }
#pragma omp target depend(mutexinoutset : item) map(tofrom : item)
    item += 1;
    CHECK_EQ(item, 3);
#pragma omp taskwait
}

int main(void) {
    for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel
#pragma omp single
        {
            char items[2] = {0, 0};
            priorities_change();
            one_of_two_is_held(items, items + 1);
            one_of_two_is_held(items + 1, items);
            undeferred();
        }
    }
    return 0;
}
