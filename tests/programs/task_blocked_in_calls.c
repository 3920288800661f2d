/* SPDX-License-Identifier: Apache-2.0
 * test:
 *
 * Tasks that are blocked in a call of the system's keep their threads. One more thread is left, and
 * has to run the task that they wait for, however busy the processors were before.
 */
#include "check.h"

#include <unistd.h>

enum { ROUNDS = 10, BUSY_US = 8000 };

static int pipes[64][2];

static void compute(void) {
    for (const double end = omp_get_wtime() + BUSY_US * 1e-6; omp_get_wtime() < end;)
        ;
}

int main(void) {
    const int readers = check_threads() - 1 < 64 ? check_threads() - 1 : 64;
    int read_by_now = 0;
    for (int i = 0; i < readers; ++i)
        CHECK(pipe(pipes[i]) == 0);
#pragma omp parallel
    for (int round = 0; round < ROUNDS; ++round) {
#pragma omp single
        {
            for (int i = 0; i < 2 * omp_get_num_threads(); ++i) {
#pragma omp task
                compute();
            }
#pragma omp taskwait
            for (int i = 0; i < readers; ++i) {
#pragma omp task shared(read_by_now)
                {
                    char byte = 0;
                    CHECK(read(pipes[i][0], &byte, 1) == 1);
#pragma omp atomic
                    read_by_now += byte;
                }
            }
#pragma omp task
            for (int i = 0; i < readers; ++i)
                CHECK(write(pipes[i][1], "\1", 1) == 1);
        }
    }
    CHECK_EQ(read_by_now, ROUNDS * readers);
    return 0;
}
