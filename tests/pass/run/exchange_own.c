/* SPDX-License-Identifier: Apache-2.0
 * The program wants calls in tasks to be MPI's own. Then an MPI_Sendrecv that ends a task blocks, as
 * a whole: a send before its receive would wait for the other rank's, which is also a send.
 */
// suspensions: 0
// stock
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { AUTO_INIT = 3, LENGTH = 20000, TURNS = 10 }; /* TAMPI_PROPERTY_AUTO_INIT */
static double in[LENGTH], out[LENGTH];

int main(int argc, char **argv) {
    int provided, rank, wrong = 0;
    int (*const set)(int, int) = (int (*)(int, int))dlsym(RTLD_DEFAULT, "TAMPI_Property_set");
    if (set)
        set(AUTO_INIT, 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *const x = in, *const y = out;
    const int other = 1 - rank;
#pragma omp parallel
#pragma omp single
    for (int turn = 0; turn < TURNS; ++turn) {
#pragma omp task depend(inout : x[0], y[0])
        for (int k = 0; k < LENGTH; ++k)
            y[k] = rank + turn;
#pragma omp task depend(inout : x[0], y[0])
        MPI_Sendrecv(y, LENGTH, MPI_DOUBLE, other, 0, x, LENGTH, MPI_DOUBLE, other, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(inout : x[0], y[0]) shared(wrong)
        for (int k = 0; k < LENGTH; ++k)
            if (x[k] != other + turn)
                wrong = 1;
    }
    if (wrong)
        fprintf(stderr, "rank %d: wrong numbers\n", rank);
    MPI_Finalize();
    return wrong;
}
