/* SPDX-License-Identifier: Apache-2.0
 * Tasks that end with MPI_Sendrecv of long messages.
 */
// suspensions: 0
// plain suspends
// stock
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 20, LENGTH = 20000, TURNS = 3 };
static double *in[BLOCKS], *out[BLOCKS];

int main(int argc, char **argv) {
    int provided, rank, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
    for (int i = 0; i < BLOCKS; ++i) {
        in[i] = calloc(LENGTH, sizeof(double));
        out[i] = calloc(LENGTH, sizeof(double));
    }
#pragma omp parallel
#pragma omp single
    for (int turn = 0; turn < TURNS; ++turn)
        for (int i = 0; i < BLOCKS; ++i) {
            double *x = in[i], *y = out[i];
#pragma omp task depend(out : y[0])
            for (int k = 0; k < LENGTH; ++k)
                y[k] = rank + i + turn;
#pragma omp task depend(out : x[0]) depend(in : y[0])
            MPI_Sendrecv(y, LENGTH, MPI_DOUBLE, other, i, x, LENGTH, MPI_DOUBLE, other, i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0]) shared(wrong)
            for (int k = 0; k < LENGTH; ++k)
                if (x[k] != other + i + turn) {
#pragma omp atomic write
                    wrong = 1;
                }
        }
    if (wrong)
        fprintf(stderr, "rank %d: wrong numbers\n", rank);
    MPI_Finalize();
    return wrong;
}
