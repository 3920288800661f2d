/* SPDX-License-Identifier: Apache-2.0
 * Functions of other files that are not crossed. */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

enum { N = 1000 };
double ghost[64], out[64], field[N], next[N];
void touch(void);
double weight(const double *x, int n) __attribute__((pure));
double unknown(double x);
void cblas_daxpy(int n, double alpha, const double *x, int step_x, double *y, int step_y);
void dcopy_(double *to, const double *from); /* these two are not those of BLAS */
void cblas_dscal(double *x);

static inline void work(void) {
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
}

/* It may read what is received. */
double read_by_it(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of weight (line +1)
    const double w = weight(field, N);
    work();
    return w;
}

/* Whom it may tell that the message has come is not known, even if it cannot read it. */
double told(int from) {
    double own[64];
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a call of unknown (line +1)
    const double w = unknown(3);
    work();
    return own[3] + w;
}

/* It may wait for what is sent. */
void awaited(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of unknown (line +1)
    next[0] = unknown(3);
    work();
}

void freed(int to) {
    double *own = malloc(N);
    own[3] = to;
    MPI_Send(own, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send is waited for where it stands: nothing is to be done before a call of free (line +1)
    free(own);
    work();
}

void added(double *x, int from) {
    MPI_Recv(x, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a call of cblas_daxpy (line +1)
    cblas_daxpy(64, 2, field, 1, x, 1);
    work();
}

void named_alike(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of dcopy_ (line +1)
    dcopy_(next, field);
    work();
}

void named_alike_in_c(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of cblas_dscal (line +1)
    cblas_dscal(next);
    work();
}

void clocked(int from, double *end) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of omp_get_wtime (line +1)
    *end = omp_get_wtime();
    work();
}
