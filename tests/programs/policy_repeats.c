/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.{policy} policy=sa|fa threads=1 SENNIT_POLICY={policy}
 * Repeated graphs under the policies that look ahead. From the ninth iteration on, a task that
 * leads to a send goes first before the send-task is created. An iteration that differs ends that,
 * and what is created afterwards is ordered as ever. Where tasks lead to no send of the iteration,
 * or nobody knows yet which of them send, priorities come as without repetition.
 */
#include "sennit_door.h"

#include <string.h>

enum { kOthers = 6, kFirst = kOthers, kSecond, kSend, kTasks, kRounds = 24, kOdd = 16 };

int memory[kTasks], gathered, table; /* what the depend clauses name */
static int order[4096], ran, mark;

static void note(int id) {
    order[ran++] = id;
}
static void send_something(void) {
    DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
}

/* Returns which task ran first: all lead to a send, and kFirst to the nearest. */
static int iterate(int odd) {
    ran = 0;
    for (int i = 0; i < kOthers; ++i) {
#pragma omp task firstprivate(i) depend(inout : memory[i]) depend(in : table)
        note(i);
    }
    for (int i = kFirst; i <= kSecond; ++i) {
#pragma omp task firstprivate(i) depend(inout : memory[kFirst]) depend(in : table)
        note(i);
    }
#pragma omp taskyield
    CHECK_EQ(ran, 1);
    if (odd) {
#pragma omp task depend(inout : memory[0], memory[1])
        memory[kSend] = 1;
    }
#pragma omp task depend(inout : memory[kFirst]) depend(in : table) priority(mark)
    {
        send_something();
        note(kSend);
    }
#pragma omp task depend(iterator(i = 0 : kOthers), in : memory[i]) depend(inout : gathered)
    note(-1);
    for (int i = 0; i < 2; ++i) {
#pragma omp task depend(inout : gathered) depend(in : table)
        note(-1);
    }
#pragma omp task depend(inout : gathered) depend(in : table) priority(mark)
    send_something();
#pragma omp taskwait
    unsigned seen = 0;
    for (int i = 0; i < ran; ++i)
        seen |= order[i] < 0 ? 0 : 1u << order[i];
    CHECK_EQ(ran, kTasks + 3);
    CHECK_EQ(seen, (1u << kTasks) - 1);
    return order[0];
}

static void known_before_it_runs(void) {
    int first[kRounds];
    for (int round = 0; round < kRounds; ++round)
        first[round] = iterate(round == kOdd);
    for (int round = 0; round < kRounds; ++round) {
        const int knows = round >= 8 && round <= kOdd;
        if (first[round] != (knows ? kFirst : 0)) {
            fprintf(stderr, "iteration %d: task %d went first\n", round, first[round]);
            exit(1);
        }
    }
    CHECK_EQ(memory[kSend], 1);
}

/* No iteration waits for another one: the ninth is created before any task has run. Others lead to
 * no send. */
static void creator_ahead(int sends_in_each) {
    enum { rounds = 40 };
    ran = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < kOthers; ++i) {
#pragma omp task depend(inout : memory[i]) depend(in : table)
            note(0);
        }
        for (int i = 0; i < 2; ++i) {
#pragma omp task depend(inout : memory[kFirst]) depend(in : table)
            note(kFirst);
        }
        if (sends_in_each || round == rounds - 1) {
#pragma omp task depend(inout : memory[kFirst]) depend(in : table) priority(mark)
            {
                send_something();
                note(kSend);
            }
        }
    }
#pragma omp taskwait
    int others = 0, before = 0, sends = 0;
    for (int i = 0; i < ran; ++i) {
        others += order[i] == 0;
        sends += order[i] == kSend;
        before += order[i] == kSend ? others : 0;
    }
    CHECK_EQ(others, rounds * kOthers);
    CHECK_EQ(sends, sends_in_each ? rounds : 1);
    if (before >= 20 * sends) {
        fprintf(stderr, "%d others ran before %d sends\n", before, sends);
        exit(1);
    }
}

int main(void) {
    mark = strcmp(getenv("SENNIT_POLICY"), "sa") == 0 ? 7 : 0;
/* Each region is a creator of its own, whose tasks nobody has seen before. */
#pragma omp parallel num_threads(1)
    creator_ahead(1);
#pragma omp parallel num_threads(1)
    known_before_it_runs();
#pragma omp parallel num_threads(1)
    creator_ahead(0);
    return 0;
}
