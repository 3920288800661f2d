/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* splitmix64: a sequence that is the same everywhere. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double next_unit(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

void make_points(struct points *points, int n, uint64_t seed) {
    points->x = malloc((size_t)n * sizeof(double));
    points->y = malloc((size_t)n * sizeof(double));
    if (!points->x || !points->y) {
        fprintf(stderr, "cholesky: no memory for %d points\n", n);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    for (int i = 0; i < n; ++i) {
        points->x[i] = next_unit(&seed);
        points->y[i] = next_unit(&seed);
    }
}

double covariance(const struct points *points, int i, int j) {
    const double length = 0.1;  /* correlation length */
    const double nugget = 1e-3; /* measurement noise, bounds the condition number */
    const double r = hypot(points->x[i] - points->x[j], points->y[i] - points->y[j]);
    const double s = sqrt(3.0) * r / length;
    return (1.0 + s) * exp(-s) + (i == j ? nugget : 0.0);
}

void fill_from_points(const struct block_map *map, const struct points *points) {
    for (int i = 0; i < map->blocks; ++i)
        for (int j = 0; j <= i; ++j) {
            double *block = block_at(map, i, j);
            if (!block)
                continue;
            const int m = extent(map, i), n = extent(map, j);
            for (int c = 0; c < n; ++c)
                for (int r = 0; r < m; ++r)
                    block[(size_t)c * (size_t)m + (size_t)r] =
                        covariance(points, i * map->block + r, j * map->block + c);
        }
}

void fill_from_dense(const struct block_map *map, const struct dense *matrix) {
    for (int i = 0; i < map->blocks; ++i)
        for (int j = 0; j <= i; ++j) {
            double *block = block_at(map, i, j);
            if (!block)
                continue;
            const int m = extent(map, i), n = extent(map, j);
            for (int c = 0; c < n; ++c)
                for (int r = 0; r < m; ++r) {
                    size_t row = (size_t)(i * map->block + r);
                    size_t column = (size_t)(j * map->block + c);
                    if (row < column) { /* the lower triangle is what we have */
                        const size_t other = row;
                        row = column;
                        column = other;
                    }
                    block[(size_t)c * (size_t)m + (size_t)r] =
                        matrix->values[column * (size_t)matrix->n + row];
                }
        }
}
