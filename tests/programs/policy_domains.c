/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.one threads=2 SENNIT_POLICY=fifo OMP_PROC_BIND=true -- one
 * run: omp.{program}.{compiler}.near threads=2 SENNIT_POLICY=fifo
 *     SENNIT_SYSTEM_FILES={two_domains} OMP_PROC_BIND=true -- near
 * Queues follow NUMA domains (docs/user/order.md). Two threads make a task each, and the second
 * one runs one of the two: the older task where they share a queue, its own where each has one
 * nearby. The argument says which it shall be.
 */
#include "check.h"
#include <string.h>

static int ran = 0;   /* 1 + the number of the thread that made the task which ran first */
static int stage = 0; /* both threads go through it in turns */

static void wait_for(int number) {
    while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != number)
        ;
}

static void make_task(int thread) {
#pragma omp task firstprivate(thread)
    {
        int nobody = 0;
        __atomic_compare_exchange_n(&ran, &nobody, 1 + thread, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    }
    __atomic_add_fetch(&stage, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv) {
    const int own = argc > 1 && strcmp(argv[1], "near") == 0;
    if (check_threads() != 2)
        return 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        wait_for(me);
        make_task(me);
        if (me == 1) {
#pragma omp taskyield
            CHECK_EQ(ran, own ? 2 : 1);
            __atomic_add_fetch(&stage, 1, __ATOMIC_RELEASE);
        } else {
            wait_for(3); /* no scheduling point: this thread runs nothing meanwhile */
        }
    }
    return 0;
}
