/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.{policy} policy=sa|fa threads=1 SENNIT_POLICY={policy}
 * Repeated graphs under the policies that look ahead. From the ninth iteration on, a task that
 * leads to a send goes first before the send-task is created. An iteration that differs ends that,
 * and what is created afterwards is ordered as ever.
 */
#include "sennit_door.h"

#include <string.h>

enum { kOthers = 6, kFirst = kOthers, kSecond, kSend, kTasks, kRounds = 24, kOdd = 16 };

int memory[kTasks], table; /* what the depend clauses name */
static int order[kTasks], ran;

static void note(int id) {
    order[ran++] = id;
}

/* Returns which task ran first. */
static int iterate(int odd) {
    const int mark = strcmp(getenv("SENNIT_POLICY"), "sa") == 0 ? 7 : 0;
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
        DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 1, 8);
        note(kSend);
    }
#pragma omp taskwait
    CHECK_EQ(ran, kTasks);
    unsigned seen = 0;
    for (int i = 0; i < kTasks; ++i)
        seen |= 1u << order[i];
    CHECK_EQ(seen, (1u << kTasks) - 1);
    return order[0];
}

int main(void) {
    int first[kRounds];
#pragma omp parallel num_threads(1)
    for (int round = 0; round < kRounds; ++round)
        first[round] = iterate(round == kOdd);
    for (int round = 0; round < kRounds; ++round) {
        const int knows = round >= 8 && round <= kOdd;
        if (first[round] != (knows ? kFirst : 0)) {
            fprintf(stderr, "iteration %d: task %d went first\n", round, first[round]);
            return 1;
        }
    }
    CHECK_EQ(memory[kSend], 1);
    return 0;
}
