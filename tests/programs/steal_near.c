/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler} threads=4 SENNIT_POLICY=steal SENNIT_SYSTEM_FILES={two_domains}
 *     OMP_PROC_BIND=close OMP_PLACES=cores
 * A thread without tasks takes those of a thread in its own NUMA domain before those of another
 * one: threads 0 and 1 are in the first, 2 and 3 in the second. One of each makes a task, and then
 * the other one of a domain looks for some.
 */
#include "check.h"
#include <sched.h>

enum { rounds = 40, nobody = -1 };

static int arrived, made, maker; /* threads; tasks; of the task that ran first */

static void wait_for(const int *number, int least) {
    while (__atomic_load_n(number, __ATOMIC_ACQUIRE) < least)
        sched_yield();
}

static void make_task(int me) {
#pragma omp task firstprivate(me)
    {
        int none = nobody;
        __atomic_compare_exchange_n(&maker, &none, me, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    __atomic_add_fetch(&made, 1, __ATOMIC_RELEASE);
}

static void look_for_one(int neighbour) {
    wait_for(&made, 2);
    while (__atomic_load_n(&maker, __ATOMIC_ACQUIRE) == nobody) {
#pragma omp taskyield
    }
    CHECK_EQ(maker, neighbour);
}

int main(void) {
    if (check_threads() != 4)
        return 0;
#pragma omp parallel num_threads(4)
    for (int round = 0; round < rounds; ++round) {
        const int me = omp_get_thread_num(), thief = round % 2 == 0 ? 0 : 3;
#pragma omp single
        {
            arrived = made = 0;
            maker = nobody;
        }
        __atomic_add_fetch(&arrived, 1, __ATOMIC_RELEASE);
        wait_for(&arrived, 4); /* at the barrier of `single` a thread would run tasks */
        if (me == 1 || me == 2)
            make_task(me);
        if (me == thief)
            look_for_one(thief == 0 ? 1 : 2);
        else
            wait_for(&maker, 0); /* no scheduling point: it runs nothing meanwhile */
#pragma omp barrier
    }
    return 0;
}
