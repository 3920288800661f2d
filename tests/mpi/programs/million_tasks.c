/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2
 * A million tasks created by one thread; every thousandth exchanges a message with the neighbours
 * in the ring, the last one first, so that hundreds are suspended at times. */
#include "check.h"

enum { tasks = 1000000, every = 1000, messages = tasks / every };

int main(int argc, char **argv) {
    begin(&argc, &argv);
    static int values[messages];
    long run = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i) shared(run)
        {
#pragma omp atomic
            ++run;
            if (i % every == 0) {
                const int m = i / every;
                const int tag = rank % 2 ? m : messages - 1 - m;
                MPI_Sendrecv(&tag, 1, MPI_INT, next(), tag, &values[m], 1, MPI_INT, previous(), m,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
    }
    CHECK(run == tasks);
    for (int m = 0; m < messages; ++m)
        CHECK(values[m] == m);
    MPI_Finalize();
    return 0;
}
