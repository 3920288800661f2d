/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 11.1 (single): one thread runs the block, the others wait at its end; copyprivate
 * broadcasts its values to every thread of the team; the barriers that both imply are counted
 * alike by all threads.
 */
#include "check.h"

enum { rounds = 200 };
static int arrived[rounds];

int main(void) {
    int total = 0;
#pragma omp parallel reduction(+ : total)
    {
        for (int round = 0; round < rounds; ++round) {
            static int ran;
            int value = -1;
            double pair[2] = {0, 0};
#pragma omp single
            ran = round;
            CHECK_EQ(ran, round);
#pragma omp single copyprivate(value, pair)
            {
                value = round * 3;
                pair[1] = round + 0.5;
            }
            CHECK_EQ(value, round * 3);
            CHECK(pair[1] == round + 0.5);
#pragma omp atomic
            arrived[round] += 1;
#pragma omp barrier
            CHECK_EQ(arrived[round], omp_get_num_threads());
#pragma omp single nowait
            total += 1;
        }
    }
    CHECK_EQ(total, rounds);
    return 0;
}
