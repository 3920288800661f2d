/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # its tasks wait in TSan's own usleep and read
 * test:
 * Tasks that wait for messages beside tasks that sleep and that read from a pipe: each is ended by
 * what another task of the same thread does when its own wait is over. */
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static volatile int arrived, begun;

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int ends[2];
    CHECK(pipe(ends) == 0);
    for (int round = 0; round < 10; ++round) {
        arrived = begun = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            {
                begun = 1;
                do
                    usleep(100);
                while (!arrived);
            }
            while (!begun) {
#pragma omp taskyield
            }
#pragma omp task
            {
                int number = -1;
                MPI_Recv(&number, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(number == round);
                CHECK(write(ends[1], "x", 1) == 1);
            }
#pragma omp task
            {
                char byte = 0;
                CHECK(read(ends[0], &byte, 1) == 1);
                CHECK(byte == 'x');
                arrived = 1;
            }
#pragma omp task
            {
                usleep(100);
                MPI_Send(&round, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
