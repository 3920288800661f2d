/* SPDX-License-Identifier: Apache-2.0
 *
 * A - L L^T without gathering L: for each block column k of L its owners give it to everybody, and
 * each rank subtracts L(:,k) L(:,k)^T from its blocks of A. The blocks of a column travel together:
 * MPI libraries spin while they wait, and on a busy machine every wait may cost a time slice.
 */
#include "cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t, size_t);

/* Sum of squares of the lower triangle, the off-diagonal counted twice. */
static double squares(const struct block_map *map) {
    double sum = 0.0;
    for (int i = 0; i < map->blocks; ++i)
        for (int j = 0; j <= i; ++j) {
            const double *block = block_at(map, i, j);
            if (!block)
                continue;
            const int m = extent(map, i), n = extent(map, j);
            for (int c = 0; c < n; ++c)
                for (int r = i == j ? c : 0; r < m; ++r) {
                    const double value = block[(size_t)c * (size_t)m + (size_t)r];
                    sum += (i == j && r == c ? 1.0 : 2.0) * value * value;
                }
        }
    double all = 0.0;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void subtract_column(const struct block_map *rest, double *const *column, int k) {
    const double one = 1.0, minus_one = -1.0;
    const int nk = extent(rest, k);
    for (int i = k; i < rest->blocks; ++i)
        for (int j = k; j <= i; ++j) {
            double *target = block_at(rest, i, j);
            if (!target)
                continue;
            const int m = extent(rest, i), n = extent(rest, j);
            dgemm_("N", "T", &m, &n, &nk, &minus_one, column[i], &m, column[j], &n, &one, target,
                   &m, 1, 1);
        }
}

double residual(const struct block_map *factor, const struct block_map *original) {
    const double norm = squares(original);
    double **column = calloc((size_t)factor->blocks, sizeof(double *));
    const size_t largest = (size_t)factor->block * (size_t)factor->block;
    for (int i = 0; column && i < factor->blocks; ++i)
        if (!(column[i] = malloc(largest * sizeof(double))))
            column = NULL;
    MPI_Request *sent = malloc((size_t)factor->blocks * sizeof(MPI_Request));
    if (!column || !sent) {
        fprintf(stderr, "cholesky: no memory to verify\n");
        MPI_Abort(MPI_COMM_WORLD, 4);
        return HUGE_VAL;
    }
    for (int k = 0; k < factor->blocks; ++k) {
        for (int i = k; i < factor->blocks; ++i) {
            const int m = extent(factor, i), n = extent(factor, k);
            const double *block = block_at(factor, i, k);
            if (block) {
                memcpy(column[i], block, (size_t)m * (size_t)n * sizeof(double));
                if (i == k) /* potrf leaves the upper triangle of A there */
                    for (int c = 1; c < n; ++c)
                        for (int r = 0; r < c; ++r)
                            column[i][(size_t)c * (size_t)m + (size_t)r] = 0.0;
            }
            MPI_Ibcast(column[i], m * n, MPI_DOUBLE, owner(factor, i, k), MPI_COMM_WORLD, &sent[i]);
        }
        MPI_Waitall(factor->blocks - k, sent + k, MPI_STATUSES_IGNORE);
        subtract_column(original, column, k);
    }
    for (int i = 0; i < factor->blocks; ++i)
        free(column[i]);
    free(column);
    free(sent);
    return sqrt(squares(original) / norm);
}
