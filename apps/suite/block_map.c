/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

void *need(void *memory, const char *what) {
    if (!memory) {
        fprintf(stderr, "suite: no memory for %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    return memory;
}

int owner(const struct block_map *map, int i, int j) {
    if (map->contiguous)
        return (int)((long)i * map->rows / map->blocks) * map->columns +
               (int)((long)j * map->columns / map->blocks);
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

void plan_map(struct block_map *map, const struct options *options, int n, int rank, int ranks) {
    *map = (struct block_map){.n = n, .block = options->block, .rank = rank, .ranks = ranks};
    map->blocks = (n + map->block - 1) / map->block;
    map->rows = options->rows;
    map->columns = options->columns;
    if (map->rows == 0) { /* as square as it gets */
        for (int p = 1; p * p <= ranks; ++p)
            if (ranks % p == 0)
                map->rows = p;
        map->columns = ranks / map->rows;
    }
}

void make_tiles(struct block_map *map, bool lower) {
    const size_t all = (size_t)map->blocks * (size_t)map->blocks;
    map->local = need(calloc(all, sizeof(double *)), "the table of tiles");
    for (int i = 0; i < map->blocks; ++i)
        for (int j = 0; j < (lower ? i + 1 : map->blocks); ++j)
            if (mine(map, i, j))
                map->local[(size_t)i * (size_t)map->blocks + (size_t)j] =
                    need(malloc((size_t)extent(map, i) * (size_t)extent(map, j) * sizeof(double)),
                         "the tiles of the matrix");
}

void free_map(struct block_map *map) {
    for (size_t k = 0; map->local && k < (size_t)map->blocks * (size_t)map->blocks; ++k)
        free(map->local[k]);
    free(map->local);
    map->local = NULL;
}
