/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit codes: 0 done; 2 bad command line; 3 bad matrix file; 4 no memory; 5 not positive definite;
 * 6 the result is wrong; 7 MPI cannot be called from several threads.
 */
#include "cholesky.h"

#include <float.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void openblas_set_num_threads(int threads);

static void copy_blocks(const struct block_map *into, const struct block_map *from) {
    for (int i = 0; i < from->blocks; ++i)
        for (int j = 0; j <= i; ++j)
            if (block_at(from, i, j))
                memcpy(block_at(into, i, j), block_at(from, i, j),
                       (size_t)extent(from, i) * (size_t)extent(from, j) * sizeof(double));
}

static void print_json(const struct options *options, int n, const struct counts *counts,
                       double seconds, double error, int ranks) {
    FILE *out = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
    if (!out) {
        fprintf(stderr, "cholesky: cannot write %s\n", options->json);
        return;
    }
    fprintf(out,
            "{\"n\":%d,\"block\":%d,\"ranks\":%d,\"threads\":%d,\"seconds\":%.6f,\"residual\":%.3e,"
            "\"potrf\":%ld,\"trsm\":%ld,\"syrk\":%ld,\"gemm\":%ld,\"send\":%ld,\"receive\":%ld}\n",
            n, options->block, ranks, omp_get_max_threads(), seconds, error, counts->potrf,
            counts->trsm, counts->syrk, counts->gemm, counts->send, counts->receive);
    if (out != stdout)
        fclose(out);
}

static int run(const struct options *options, int rank, int ranks) {
    struct dense dense = {0};
    struct points points = {0};
    int n = options->n;
    if (options->matrix) {
        const int error = read_matrix_market(options->matrix, rank, &dense);
        if (error)
            return error;
        n = dense.n;
    } else {
        make_points(&points, n, options->seed);
    }
    /* A tag for each block. */
    int *most = NULL, known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
    const long blocks = (n + options->block - 1) / options->block;
    if (blocks * blocks > (known ? (long)*most : 32767L)) {
        if (rank == 0)
            fprintf(stderr,
                    "cholesky: %ld x %ld blocks need more message tags than this MPI has; use a "
                    "larger --block\n",
                    blocks, blocks);
        return 2;
    }
    struct block_map original, factor;
    make_map(&original, options, n, rank, ranks);
    make_map(&factor, options, n, rank, ranks);
    if (options->matrix)
        fill_from_dense(&original, &dense);
    else
        fill_from_points(&original, &points);
    free(dense.values);
    free(points.x);
    free(points.y);

    struct counts counts = {0};
    double seconds = DBL_MAX;
    int failed = 0;
    for (int round = 0; round < options->repeat && !failed; ++round) {
        copy_blocks(&factor, &original);
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const int mine = factorize(&factor, &counts);
        MPI_Barrier(MPI_COMM_WORLD);
        const double took = MPI_Wtime() - start;
        if (took < seconds)
            seconds = took;
        /* The first bad minor of all ranks; what follows it is noise. */
        int order = mine ? mine : n + 1;
        MPI_Allreduce(MPI_IN_PLACE, &order, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        failed = order <= n ? order : 0;
    }
    int code = 0;
    double error = -1.0;
    if (failed) {
        if (rank == 0)
            fprintf(
                stderr,
                "cholesky: the matrix is not positive definite: its leading minor of order %d\n",
                failed);
        code = 5;
    } else if (options->check) {
        error = residual(&factor, &original);
        if (!(error < 1e-10)) {
            if (rank == 0)
                fprintf(stderr, "cholesky: the result is wrong: ||A - LL'||/||A|| = %.3e\n", error);
            code = 6;
        }
    }
    long mine[6] = {counts.potrf, counts.trsm, counts.syrk,
                    counts.gemm,  counts.send, counts.receive};
    long all[6];
    MPI_Reduce(mine, all, 6, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && !failed) {
        const struct counts total = {all[0], all[1], all[2], all[3], all[4], all[5]};
        const double flops = (double)n * (double)n * (double)n / 3.0;
        printf(
            "cholesky n=%d block=%d ranks=%d threads=%d: %.4f s, %.2f GFLOP/s, %ld compute and %ld "
            "communication tasks",
            n, options->block, ranks, omp_get_max_threads(), seconds, flops / seconds * 1e-9,
            all[0] + all[1] + all[2] + all[3], all[4] + all[5]);
        if (options->check)
            printf(", residual %.3e", error);
        printf("\n");
        if (options->json)
            print_json(options, n, &total, seconds, error, ranks);
    }
    free_map(&original);
    free_map(&factor);
    return code;
}

int main(int argc, char **argv) {
    int provided = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    openblas_set_num_threads(1);
    struct options options;
    int code = read_options(argc, argv, rank, &options);
    if (code < 0 && provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            fprintf(stderr, "cholesky: this MPI does not provide MPI_THREAD_MULTIPLE\n");
        code = 7;
    }
    if (code < 0 && options.rows != 0 && options.rows * options.columns != ranks) {
        if (rank == 0)
            fprintf(stderr, "cholesky: a grid of %dx%d does not match %d ranks\n", options.rows,
                    options.columns, ranks);
        code = 2;
    }
    if (code < 0)
        code = run(&options, rank, ranks);
    MPI_Finalize();
    return code;
}
