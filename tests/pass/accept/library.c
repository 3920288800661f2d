/* SPDX-License-Identifier: Apache-2.0
 * Functions of other files that are crossed: they only compute, and are known to. */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };
double ghost[64], out[64], field[N], next[N];
double *kept;
void touch(void);
void show(double *x);
double weight(const double *x, int n) __attribute__((pure));
void cblas_daxpy(int n, double alpha, const double *x, int step_x, double *y, int step_y);
void dgemv_(const char *way, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *step_x, const double *beta, double *y,
            const int *step_y);

/* What is sent is only read. */
double read_by_all(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +4)
    const double w = weight(field, N);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + w;
    touch();
    return w;
}

/* Nobody knows where it is. */
double out_of_reach(int from) {
    double own[64];
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is waited for only before a read (line +4)
    const double w = weight(field, N);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + w;
    return own[3];
}

void managed(int to, int n, const char *name) {
    double *const own = malloc(n);
    show(own);
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +6)
    free(own);
    kept = malloc(strlen(name) + n);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] * 2;
    kept[0] = 1;
    touch();
}

void multiplied(int from) {
    const int m = 8, one = 1;
    const double alpha = 2, beta = 0;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is waited for only before a call of cblas_daxpy (line +3)
    dgemv_("N", &m, &m, &alpha, field, &m, out, &one, &beta, next, &one);
    cblas_daxpy(N, 2, field, 1, next, 1);
    cblas_daxpy(64, 2, field, 1, ghost, 1);
}

/* Before what computes for a while. */
double started_before(int from) {
    touch();
    cblas_daxpy(N, 2, field, 1, next, 1);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before a call of cblas_daxpy (line -1)
    return ghost[3];
}

void asked(int from) {
    int rank, size;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is waited for only before a call of touch (line +6)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_size(MPI_DOUBLE, &size);
    const int thread = omp_get_thread_num();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] * rank + size + thread;
    touch();
}
