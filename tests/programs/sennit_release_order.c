// SPDX-License-Identifier: Apache-2.0
// run: omp.{program}.{compiler}.{policy} policy=fifo|lifo|steal threads=2 SENNIT_POLICY={policy}
// A task that ends releases its successors newest first. So under lifo, whose newest is the one
// that became ready last, they run in the order of their creation. Under steal they do, too: the
// thread goes on with the first of them, and the others follow it. sim/threads.cpp relies on it.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

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
    for (int i = 1; i <= kTasks; ++i) {
        if (order[i] != i) {
            printf("place %d is task %d's\n", i, order[i]);
            return 1;
        }
    }
    return 0;
}
