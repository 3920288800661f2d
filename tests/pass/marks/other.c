/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <math.h>
#include <mpi.h>
#include <string.h>

static void below(double *x, int to) {
    MPI_Send(x, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}
void other_sends(double *x, int to) {
#pragma omp parallel
    x[0] += 1;
    below(x, to);
}
void other_computes(double *x) {
    memset(x, 0, 8);
    x[1] = sin(x[2]);
}
void other_recurses(double *x, int depth) {
    x[depth] += 1;
    if (depth > 0)
        other_recurses(x, depth - 1);
}
