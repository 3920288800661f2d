/* SPDX-License-Identifier: Apache-2.0
 * build:
 * split:
 * The task-aware MPI paper, section 4.7: work-sharing loops whose iterations call MPI, under
 * --split. The first iterations wait for messages that the last ones of the other rank send, so
 * they leave their workers to the threads that have not begun. */
#include "check.h"

#include <omp.h>

enum { rounds = 10, most = 64 };

static void exchange(int i, int half, int tag, int *value) {
    if (i < half)
        MPI_Recv(value, 1, MPI_INT, previous(), tag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else {
        const int sent = 1000 * rank + i - half;
        MPI_Ssend(&sent, 1, MPI_INT, next(), tag + i - half, MPI_COMM_WORLD);
    }
}

/* An iteration for each thread; more threads wait than there are workers. */
static void loop(int round) {
    int values[most], threads = 0, iterations = 0;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        const int half = threads / 2 < most ? threads / 2 : most;
#pragma omp for schedule(static, 1) reduction(+ : iterations)
        for (int i = 0; i < 2 * half; ++i) {
            exchange(i, half, most * round, &values[i % half]);
            ++iterations;
        }
    }
    CHECK(threads >= 4 && iterations == threads / 2 * 2);
    for (int i = 0; i < threads / 2; ++i)
        CHECK(values[i] == 1000 * previous() + i);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < rounds; ++round)
        loop(round);
    MPI_Finalize();
    return 0;
}
