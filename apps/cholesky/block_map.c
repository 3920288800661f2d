/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky.h"

#include <stdio.h>
#include <stdlib.h>

int owner(const struct block_map *map, int i, int j) {
    return i % map->rows * map->columns + j % map->columns;
}

bool mine(const struct block_map *map, int i, int j) {
    return owner(map, i, j) == map->rank;
}

int extent(const struct block_map *map, int i) {
    const int rest = map->n - i * map->block;
    return rest < map->block ? rest : map->block;
}

double *block_at(const struct block_map *map, int i, int j) {
    return map->local[(size_t)i * (size_t)map->blocks + (size_t)j];
}

void make_map(struct block_map *map, const struct options *options, int n, int rank, int ranks) {
    map->n = n;
    map->block = options->block;
    map->blocks = (n + map->block - 1) / map->block;
    map->rank = rank;
    map->ranks = ranks;
    map->rows = options->rows;
    map->columns = options->columns;
    if (map->rows == 0) { /* as square as it gets */
        for (int p = 1; p * p <= ranks; ++p)
            if (ranks % p == 0)
                map->rows = p;
        map->columns = ranks / map->rows;
    }
    map->local = calloc((size_t)map->blocks * (size_t)map->blocks, sizeof(double *));
    if (!map->local)
        goto no_memory;
    for (int i = 0; i < map->blocks; ++i)
        for (int j = 0; j <= i; ++j) {
            if (!mine(map, i, j))
                continue;
            double *block =
                malloc((size_t)extent(map, i) * (size_t)extent(map, j) * sizeof(double));
            if (!block)
                goto no_memory;
            map->local[(size_t)i * (size_t)map->blocks + (size_t)j] = block;
        }
    return;
no_memory:
    fprintf(stderr, "cholesky: rank %d has no memory for its blocks of a matrix with n=%d\n", rank,
            n);
    MPI_Abort(MPI_COMM_WORLD, 4);
}

void free_map(struct block_map *map) {
    for (size_t k = 0; k < (size_t)map->blocks * (size_t)map->blocks; ++k)
        free(map->local[k]);
    free(map->local);
    map->local = NULL;
}
