/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.{policy} policy=fifo|lifo|ma1|ma2|ma3|sa|fa threads=1
 *     SENNIT_POLICY={policy}
 * The order in which one thread runs tasks under each SENNIT_POLICY (communication-aware
 * scheduling, section 3). Sends are told to the runtime as the MPI library tells them.
 */
#include "sennit_door.h"

#include <stdlib.h>
#include <string.h>

static int order[64], ran;
int chains[2]; /* what the depend clauses name */

static void note(int id) {
    order[ran++] = id;
}

static void expect(const char *what, const int *expected, int count) {
    CHECK_EQ(ran, count);
    for (int i = 0; i < count; ++i) {
        if (order[i] == expected[i])
            continue;
        fprintf(stderr, "%s: place %d: task %d instead of %d\n", what, i, order[i], expected[i]);
        exit(1);
    }
    ran = 0;
}

static int is(const char *policy) {
    return strcmp(getenv("SENNIT_POLICY"), policy) == 0;
}

static void clauses(void) {
    static const int priorities[5] = {0, 3, 1, 0, 2};
    for (int i = 0; i < 5; ++i) {
#pragma omp task firstprivate(i) priority(priorities[i])
        note(i);
    }
#pragma omp taskwait
    if (is("fifo"))
        expect("clauses", (const int[]){0, 1, 2, 3, 4}, 5);
    else if (is("lifo"))
        expect("clauses", (const int[]){4, 3, 2, 1, 0}, 5);
    else if (is("ma3") || is("fa")) /* FA: "user priorities respected as a floor" */
        expect("clauses", (const int[]){1, 4, 2, 0, 3}, 5);
    else
        expect("clauses", (const int[]){1, 2, 4, 0, 3}, 5);
}

/* 0-1-2 computes; 3-4-5 leads to a send. Marks: the priority of the send-task. */
static void two_chains(int mark) {

    for (int i = 0; i < 3; ++i) {
#pragma omp task firstprivate(i) depend(inout : chains[0])
        note(i);
    }
    for (int i = 3; i < 5; ++i) {
#pragma omp task firstprivate(i) depend(inout : chains[1])
        note(i);
    }
#pragma omp task depend(inout : chains[1]) priority(mark)
    {
        DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
        note(5);
    }
#pragma omp taskwait
}

int main(void) {
    static const int created[] = {0, 1, 2, 3, 4, 5}, send_first[] = {3, 4, 5, 0, 1, 2};
#pragma omp parallel num_threads(1)
    {
        clauses();
        /* "If the current thread was executing an explicit task": this one is not. */
        CHECK_EQ(DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8), 0);
        two_chains(0);
        /* Nothing is known in the first round, whatever the policy. */
        expect("first round", is("lifo") ? send_first : created, 6);
        two_chains(7);
        /* MA-1 does not see the path: "we would also like to prioritize the tasks that precede" */
        expect("second round", is("sa") || is("fa") || is("lifo") ? send_first : created, 6);
        two_chains(0);
        expect("third round", is("fa") || is("lifo") ? send_first : created, 6);
    }
    return 0;
}
