/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.{policy} policy=fifo|sa|fa|global threads=1
 *     SENNIT_POLICY={policy}
 * Control dependences (communication-aware scheduling, section 5: future work there). A send-task
 * that waits for its children hands its priority on to them; a task that creates send-tasks comes
 * right after these. One thread runs all, so each policy has one order.
 */
#include "sennit_door.h"

#include <stdlib.h>
#include <string.h>

static int order[64];
static volatile int ran;

static void note(int id) {
    order[ran++] = id;
}

static void expect(const char *what, const int *expected) {
    for (int i = 0; i < ran || expected[i] >= 0; ++i) {
        if (i < ran && order[i] == expected[i])
            continue;
        fprintf(stderr, "%s: place %d: task %d instead of %d\n", what, i, i < ran ? order[i] : -1,
                expected[i]);
        exit(1);
    }
    ran = 0;
}

static int is(const char *policy) {
    return strcmp(getenv("SENNIT_POLICY"), policy) == 0;
}

static void send(void) {
    DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
}

static void other(int id) {
#pragma omp task firstprivate(id)
    note(id);
}

/* ---- a send-task waits for its children: other 0, send-task 3 with 1 and 2, others 4 and 5 */

enum { kTaskwait, kTaskgroup, kTaskloop, kRegion, kUndeferred, kWays };

static void children(void) {
    for (int i = 1; i <= 2; ++i)
        other(i);
#pragma omp taskwait
}

static void wait_for_children(int way) {
    if (way == kTaskwait) {
        children();
    } else if (way == kTaskgroup) {
#pragma omp taskgroup
        for (int i = 1; i <= 2; ++i)
            other(i);
    } else if (way == kTaskloop) {
#pragma omp taskloop grainsize(1)
        for (int i = 1; i <= 2; ++i)
            note(i);
    } else if (way == kRegion) {
#pragma omp parallel num_threads(1)
        children();
    } else {
#pragma omp task if (0)
        children();
    }
}

static void parent(int way, int mark) {
    int x[3];
    (void)x;
    other(0);
#pragma omp task firstprivate(way) priority(mark) depend(out : x[0])
    {
        wait_for_children(way);
        send();
        note(3);
    }
#pragma omp task depend(out : x[1])
    note(4);
    other(5);
#pragma omp taskwait
}

/* ---- one that does not wait: send-task 0 with 4 and 5, others 1 and 2 */

static void leaving_parent(void) {
#pragma omp task priority(7)
    {
        send();
        for (int i = 4; i <= 5; ++i)
            other(i);
        note(0);
    }
    other(1);
    other(2);
#pragma omp taskwait
    while (ran < 5) { /* its children are not ours */
#pragma omp taskyield
    }
}

/* ---- a task that creates a send-task: other 0, creator 1 of send-task 2, other 3 */

static void creator(int mark) {
    other(0);
#pragma omp task firstprivate(mark)
    {
        note(1);
#pragma omp task priority(mark)
        {
            send();
            note(2);
        }
    }
    other(3);
#pragma omp taskwait
    while (ran < 4) {
#pragma omp taskyield
    }
}

int main(void) {
    const int by_creation = is("fifo"), marks = is("sa");
#pragma omp parallel num_threads(1)
    {
        for (int way = 0; way < kWays; ++way) {
            parent(way, 7); /* fa learns that it sends */
            ran = 0;
            parent(way, marks ? 7 : 0);
            if (by_creation && way == kRegion) /* its thread has a queue of its own */
                expect("waits", (const int[]){0, 1, 2, 3, 4, 5, -1});
            else if (by_creation)
                expect("waits", (const int[]){0, 4, 5, 1, 2, 3, -1});
            else
                expect("waits", (const int[]){1, 2, 3, 0, 4, 5, -1});
        }
        leaving_parent();
        ran = 0;
        leaving_parent();
        expect("leaves", (const int[]){0, 1, 2, 4, 5, -1});
        for (int round = 0; round < 2; ++round) {
            creator(marks ? 7 : 0);
            ran = 0;
        }
        creator(marks ? 7 : 0);
        if (by_creation)
            expect("leads", (const int[]){0, 1, 3, 2, -1});
        else
            expect("leads", (const int[]){1, 2, 0, 3, -1});
    }
    return 0;
}
