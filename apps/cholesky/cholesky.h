/* SPDX-License-Identifier: Apache-2.0
 *
 * Distributed blocked Cholesky factorization A = L L^T. The lower triangle is cut into blocks of
 * b x b (the last row of blocks may be shorter), dealt out block-cyclically over a grid of P x Q
 * ranks. Blocks are stored column-major.
 */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include "suite.h"

/* The whole lower triangle of a symmetric matrix as rank 0 read it; all ranks get it. */
struct dense {
    int n;
    double *values; /* column-major n x n, lower triangle valid */
};

/* Read a Matrix Market file on rank 0 and give it to all. Returns 0, or an exit code after one line
 * on rank 0's stderr; the same on all ranks. */
int read_matrix_market(const char *path, int rank, struct dense *matrix);

/* A(i, j) of a Matern-3/2 covariance over seeded random points in the unit square, with a nugget
 * that keeps it positive definite: the same for any number of ranks. */
struct points {
    double *x, *y;
};
void make_points(struct points *points, int n, uint64_t seed);
double covariance(const struct points *points, int i, int j);

/* Fill our blocks. */
void fill_from_dense(const struct block_map *map, const struct dense *matrix);
void fill_from_points(const struct block_map *map, const struct points *points);

/* The blocks are in `factorized`'s map; `buffers`: of each row, for receives. */
void begin_factorization(const struct block_map *factorized, int buffers);
void end_factorization(void);
/* Create the tasks. */
void factorize(void *options, const struct block_map *map, struct exchange *exchange,
               struct plan *plan);
/* 0, or k > 0: the leading minor of order k is not positive definite (known on the rank that found
 * it). Forgets it. */
int bad_minor(void);

/* ||A - L L^T||_F / ||A||_F over the lower triangle, on all ranks; `original` holds A's blocks. */
double residual(const struct block_map *factor, const struct block_map *original);

#endif
