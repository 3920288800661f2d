/* SPDX-License-Identifier: Apache-2.0
 * What marks_test.cpp asks for: together with other.c and stranger.c one object. */
#include "marks.h"

#include <mpi.h>

extern void stranger(double *x);
double values[16];

void computes(double *x) {
    other_computes(x);
}
void sends(double *x) {
    computes(x);
    other_sends(x, 1);
}
void receives(double *x) {
    MPI_Request request;
    MPI_Irecv(x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
}
void blocks(double *x) {
#pragma omp taskwait
    other_recurses(x, 3);
}
void unknown(double *x) {
    stranger(x);
}
void indirect(void (*function)(double *)) {
    function(values);
}
