/* SPDX-License-Identifier: Apache-2.0
 * test, policies:
 * OpenMP 5.2, 12.8 (taskyield), at its strongest: tasks that wait for each other by spinning on
 * flags with taskyield all proceed, on one thread too; a yield lets every ready task run.
 */
#include "sennit_door.h"

static volatile int turn;

static void take_turns(int me, int players) {
    for (int round = 0; round < 50; ++round) {
        while (turn != round * players + me) {
#pragma omp taskyield
        }
        turn += 1;
    }
}

int main(void) {
#pragma omp parallel num_threads(1)
    {
        for (int players = 2; players <= 32; players *= 4) {
            turn = 0;
            /* created in the order that is the worst for LIFO and for FIFO scheduling */
            for (int k = 0; k < players; ++k) {
                const int me = k % 2 ? k / 2 : players - 1 - k / 2;
#pragma omp task firstprivate(me, players)
                take_turns(me, players);
            }
#pragma omp taskwait
            CHECK_EQ(turn, 50 * players);
        }
    }
    /* the creator itself waits for a flag that its child sets */
#pragma omp parallel
#pragma omp single
    {
        int flag = 0;
#pragma omp task shared(flag)
        {
#pragma omp atomic write seq_cst
            flag = 1;
        }
        for (int seen = 0; !seen;) {
#pragma omp taskyield
#pragma omp atomic read seq_cst
            seen = flag;
        }
    }
    return 0;
}
