/* SPDX-License-Identifier: Apache-2.0
 * Many blocks to the next rank, in the other order than they are received: every receive would be
 * suspended. Under a stock runtime the receives take all threads.
 */
// suspensions: 0
// plain suspends
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 100, LENGTH = 20000 };
static double *in[BLOCKS], *out[BLOCKS];

int main(int argc, char **argv) {
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks;
    for (int i = 0; i < BLOCKS; ++i) {
        in[i] = calloc(LENGTH, sizeof(double));
        out[i] = calloc(LENGTH, sizeof(double));
    }
    double sum = 0, wanted = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < BLOCKS; ++i) {
            double *x = in[i];
#pragma omp task depend(out : x[0])
            MPI_Recv(x, LENGTH, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0]) shared(sum)
            {
                double part = 0;
                for (int k = 0; k < LENGTH; ++k)
                    part += x[k];
#pragma omp atomic
                sum += part;
            }
        }
        for (int i = BLOCKS - 1; i >= 0; --i) {
            double *y = out[i];
#pragma omp task depend(out : y[0])
            for (int k = 0; k < LENGTH; ++k)
                y[k] = rank + i;
#pragma omp task depend(in : y[0])
            MPI_Send(y, LENGTH, MPI_DOUBLE, to, i, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < BLOCKS; ++i)
        wanted += (double)LENGTH * (from + i);
    if (sum != wanted)
        fprintf(stderr, "rank %d: the sum is %g, expected %g\n", rank, sum, wanted);
    MPI_Finalize();
    return sum != wanted;
}
