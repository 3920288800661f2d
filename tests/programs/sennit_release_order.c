// SPDX-License-Identifier: Apache-2.0
// run: omp.{program}.{compiler}.{policy} policy=fifo|lifo|steal threads=2 SENNIT_POLICY={policy}
// A task that ends releases its successors newest first. So under lifo, whose newest is the one
// that became ready last, they run in the order of their creation; under steal the newest runs next
// and the others, each thread's newest first, follow it. sim/threads.cpp relies on it.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTasks = 10 };

int main(void) {
    int order[kTasks + 1];
    int x = 0; // what the dependences are on
    (void)x;
    atomic_int count = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task depend(inout : x) shared(order, count)
            order[count++] = 0;
            for (int i = 1; i <= kTasks; ++i) {
#pragma omp task depend(in : x) firstprivate(i) shared(order, count)
                order[count++] = i;
            }
#pragma omp taskwait
        } else {
            while (count <= kTasks) // takes none of the tasks
                ;
        }
    }
    const char *policy = getenv("SENNIT_POLICY");
    const int newest_next = policy && strcmp(policy, "steal") == 0;
    for (int i = 1; i <= kTasks; ++i) {
        const int expected = !newest_next ? i : i == 1 ? kTasks : i - 1;
        if (order[i] != expected) {
            printf("%s: place %d is task %d's, not task %d's\n", policy ? policy : "auto", i,
                   order[i], expected);
            return 1;
        }
    }
    return 0;
}
