/* SPDX-License-Identifier: Apache-2.0
 * What MPI programs spend their time on, with as many ranks as one likes for the same work:
 *   cg       conjugate gradients on a grid of SIZE x SIZE points, in stripes of rows: in each step
 *            a row to and from both neighbours, and two sums over all ranks
 *   halo     a smoothing of the same grid: messages to and from both neighbours without waiting for
 *            one at a time, and every tenth step a sum over all ranks
 * usage: kernels cg|halo SIZE STEPS; prints us per step, best of five. It fails where the result is
 * wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, size, rows;

static double *field(void) { /* with a row of each neighbour */
    double *made = calloc((size_t)(rows + 2) * (size_t)size, sizeof(double));
    if (!made)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return made;
}

static double total(double mine) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (int i = size; i < (rows + 1) * size; ++i)
        sum += a[i] * b[i];
    return total(sum);
}

static int above(void) {
    return rank > 0 ? rank - 1 : MPI_PROC_NULL;
}
static int below(void) {
    return rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
}

/* The negative Laplacian, with zeros around the grid. */
static void apply(const double *in, double *out) {
    for (int row = 1; row <= rows; ++row) {
        const double *const at = in + row * size;
        double *const to = out + row * size;
        for (int i = 0; i < size; ++i)
            to[i] = 4 * at[i] - at[i - size] - at[i + size] - (i > 0 ? at[i - 1] : 0) -
                    (i + 1 < size ? at[i + 1] : 0);
    }
}

static void exchange(double *in) {
    MPI_Sendrecv(in + size, size, MPI_DOUBLE, above(), 1, in + (rows + 1) * size, size, MPI_DOUBLE,
                 below(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(in + rows * size, size, MPI_DOUBLE, below(), 2, in, size, MPI_DOUBLE, above(), 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns whether its residuum is the one that its solution leaves. */
static int cg(int steps) {
    double *x = field(), *r = field(), *p = field(), *ap = field();
    for (int i = size; i < (rows + 1) * size; ++i)
        r[i] = p[i] = 1; /* the right side */
    const double first = dot(r, r);
    double now = first;
    for (int step = 0; step < steps; ++step) {
        exchange(p);
        apply(p, ap);
        const double alpha = now / dot(p, ap);
        for (int i = size; i < (rows + 1) * size; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        const double next = dot(r, r), beta = next / now;
        for (int i = size; i < (rows + 1) * size; ++i)
            p[i] = r[i] + beta * p[i];
        now = next;
    }
    exchange(x);
    apply(x, ap);
    double off = 0;
    for (int i = size; i < (rows + 1) * size; ++i) {
        const double difference = 1 - ap[i] - r[i];
        off += difference * difference;
    }
    free(x), free(r), free(p), free(ap);
    return total(off) <= 1e-12 * first;
}

/* Returns whether the sum of all is what zeros around it leave: less than before, more than none.
 */
static int halo(int steps) {
    double *now = field(), *next = field();
    for (int i = size; i < (rows + 1) * size; ++i)
        now[i] = 1;
    double sum = (double)size * size, before = sum;
    int falls = 1;
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[4];
        MPI_Status statuses[4];
        MPI_Irecv(now, size, MPI_DOUBLE, above(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now + (rows + 1) * size, size, MPI_DOUBLE, below(), 2, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Isend(now + size, size, MPI_DOUBLE, above(), 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now + rows * size, size, MPI_DOUBLE, below(), 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, statuses);
        apply(now, next);
        double mine = 0;
        for (int i = size; i < (rows + 1) * size; ++i) {
            next[i] = now[i] - 0.2 * next[i];
            mine += next[i];
        }
        if (step % 10 == 9) {
            sum = total(mine);
            falls = falls && sum > 0 && sum < before;
            before = sum;
        }
        double *const swap = now;
        now = next;
        next = swap;
    }
    free(now), free(next);
    return falls;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *const name = argc > 1 ? argv[1] : "";
    int (*const run)(int) = strcmp(name, "cg") == 0 ? cg : strcmp(name, "halo") == 0 ? halo : NULL;
    size = argc > 2 ? atoi(argv[2]) : 0;
    const int steps = argc > 3 ? atoi(argv[3]) : 0;
    if (!run || size < 1 || size % ranks != 0 || steps < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: kernels cg|halo SIZE STEPS; SIZE a multiple of the ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rows = size / ranks;
    double best = 0;
    for (int i = 0; i < 5; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (!run(steps)) {
            fprintf(stderr, "kernels: %s: a wrong result\n", name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double took = (MPI_Wtime() - begin) / steps;
        if (best == 0 || took < best)
            best = took;
    }
    if (rank == 0)
        printf("%.1f\n", best * 1e6);
    MPI_Finalize();
    return 0;
}
