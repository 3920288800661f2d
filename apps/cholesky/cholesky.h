/* SPDX-License-Identifier: Apache-2.0
 *
 * Distributed blocked Cholesky factorization A = L L^T with blocking MPI calls inside dependent
 * OpenMP tasks. The lower triangle is cut into blocks of b x b (the last row of blocks may be
 * shorter), dealt out block-cyclically over a grid of P x Q ranks. Blocks are stored column-major.
 */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    int n;
    int block;
    int rows, columns; /* the grid; 0: chosen from the number of ranks */
    int repeat;
    uint64_t seed;
    bool check;
    const char *matrix; /* a Matrix Market file, or null */
    const char *json;   /* where the result goes, "-" for stdout, or null */
};

/* Read the command line; on an error or --help the caller ends with the returned code (>= 0); -1:
 * go on. Rank 0 prints. */
int read_options(int argc, char **argv, int rank, struct options *options);

/* Which rank owns which block, and where our blocks are. */
struct block_map {
    int n, block, blocks; /* blocks in a row */
    int rank, ranks, rows, columns;
    double **local; /* [blocks * blocks], null where another rank owns it or above the diagonal */
};

int owner(const struct block_map *map, int i, int j);
bool mine(const struct block_map *map, int i, int j);
int extent(const struct block_map *map, int i); /* rows of block row i */
double *block_at(const struct block_map *map, int i, int j);
void make_map(struct block_map *map, const struct options *options, int n, int rank, int ranks);
void free_map(struct block_map *map);

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

struct counts {
    long potrf, trsm, syrk, gemm, send, receive;
};

/* Factorize in place. Returns 0, or k > 0: the leading minor of order k is not positive definite
 * (known on the rank that found it; the caller spreads it). */
int factorize(const struct block_map *map, struct counts *counts);

/* ||A - L L^T||_F / ||A||_F over the lower triangle, on all ranks; `original` holds A's blocks. */
double residual(const struct block_map *factor, const struct block_map *original);

#endif
