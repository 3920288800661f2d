/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 1.4.4 and 15.8.5 (flush): a thread that spins on a flag sees the data that another
 * thread of the team wrote before it set the flag. Both threads are busy all the time: a member of
 * a team makes progress without any scheduling point of the others.
 */
#include "check.h"
#include <sched.h>

int main(void) {
    int data = 0, flag = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(2) shared(data, flag)
    {
        const int me = omp_get_thread_num();
        for (int round = 0; round < 200; ++round) {
            int turn;
            do {
                sched_yield();
#pragma omp atomic read acquire
                turn = flag;
            } while (turn % 2 != me);
            CHECK_EQ(data, turn);
            data += 1;
#pragma omp flush
#pragma omp atomic write release
            flag = turn + 1;
        }
    }
    CHECK_EQ(data, 400);
    return 0;
}
