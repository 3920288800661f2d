/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct block_map original, factor;

static int too_many_blocks(int n, const struct options *options, int rank) {
    /* A tag for each block. */
    int *most = NULL, known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
    const long blocks = (n + options->block - 1) / options->block;
    if (blocks * blocks <= (known ? (long)*most : 32767L))
        return 0;
    if (rank == 0)
        fprintf(stderr,
                "cholesky: %ld x %ld blocks need more message tags than this MPI has; use a "
                "larger --block\n",
                blocks, blocks);
    return 2;
}

static int prepare(const struct options *options, int rank, int ranks, struct block_map *map) {
    struct dense dense = {0};
    struct points points = {0};
    int n = options->n;
    if (options->matrix) {
        const int error = read_matrix_market(options->matrix, rank, &dense);
        if (error)
            return error;
        n = dense.n;
    }
    const int error = too_many_blocks(n, options, rank);
    if (error) {
        free(dense.values);
        return error;
    }
    plan_map(&factor, options, n, rank, ranks);
    make_tiles(&factor, true);
    if (!options->emulate) {
        plan_map(&original, options, n, rank, ranks);
        make_tiles(&original, true);
        if (options->matrix) {
            fill_from_dense(&original, &dense);
        } else {
            make_points(&points, n, options->seed);
            fill_from_points(&original, &points);
        }
    }
    free(dense.values);
    free(points.x);
    free(points.y);
    begin_factorization(&factor, options->buffers);
    *map = factor;
    return 0;
}

static void restart(const struct options *options) {
    (void)options;
    for (int i = 0; i < original.blocks; ++i)
        for (int j = 0; j <= i; ++j)
            if (block_at(&original, i, j))
                memcpy(block_at(&factor, i, j), block_at(&original, i, j),
                       (size_t)extent(&original, i) * (size_t)extent(&original, j) *
                           sizeof(double));
}

static double verify(const struct options *options) {
    (void)options;
    return residual(&factor, &original);
}

static void finish(void) {
    end_factorization();
    free_map(&original);
    free_map(&factor);
}

int main(int argc, char **argv) {
    static const struct program program = {
        .name = "cholesky",
        .defaults = {.n = 1024, .block = 128, .repeat = 1, .seed = 1, .check = true},
        .prepare = prepare,
        .restart = restart,
        .walk = factorize,
        .failed = bad_minor,
        .verify = verify,
        .finish = finish,
    };
    return run_program(argc, argv, &program);
}
