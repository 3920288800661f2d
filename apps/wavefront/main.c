/* SPDX-License-Identifier: Apache-2.0
 *
 * Gauss-Seidel sweeps of the five-point Laplacian over a square grid, in tiles: within a sweep a
 * tile follows those above and to the left of it, and of the sweep before those below and to the
 * right. Sweeps overlap: many wavefronts run over the grid at once. Ranks hold rectangles of tiles,
 * so messages are short, few tiles send, and latency is what counts.
 *
 * Each tile has copies of its four edges, which neighbours read; those of another rank's tile are
 * received into buffers that each sweep uses again.
 */
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side { north, south, west, east, sides };

static struct block_map g_map;
static double *g_edges; /* [blocks][blocks][sides][block], of our tiles and of our neighbours' */
static double *g_zeros; /* beyond the grid */
static int g_sweeps;

static long edge_number(const struct block_map *map, int i, int j, enum side side) {
    return ((long)i * map->blocks + j) * sides + (long)side;
}

static double *edge(const struct block_map *map, int i, int j, enum side side) {
    if (i < 0 || j < 0 || i >= map->blocks || j >= map->blocks)
        return g_zeros;
    return g_edges + edge_number(map, i, j, side) * map->block;
}

/* The tile in direction `side`; false: that is beyond the grid. */
static bool neighbour(const struct block_map *map, int i, int j, enum side side, int *ni, int *nj) {
    static const int di[sides] = {-1, 1, 0, 0}, dj[sides] = {0, 0, -1, 1};
    *ni = i + di[side];
    *nj = j + dj[side];
    return *ni >= 0 && *nj >= 0 && *ni < map->blocks && *nj < map->blocks;
}

static enum side opposite(enum side side) {
    return (enum side)(side ^ 1);
}

static double initial(int row, int column) {
    return 1.0 + 0.5 * sin(0.1 * row) * cos(0.07 * column);
}

static void copy_edges(double *tile, int m, int n, double *const out[sides]) {
    for (int c = 0; c < n; ++c) {
        out[north][c] = tile[(size_t)c * (size_t)m];
        out[south][c] = tile[(size_t)c * (size_t)m + (size_t)m - 1];
    }
    memcpy(out[west], tile, (size_t)m * sizeof(double));
    memcpy(out[east], tile + (size_t)(n - 1) * (size_t)m, (size_t)m * sizeof(double));
}

/* Column by column, downwards; in[side]: the neighbours' edges on that side. */
static void relax(double *tile, int m, int n, const double *const in[sides]) {
    for (int c = 0; c < n; ++c) {
        double *column = tile + (size_t)c * (size_t)m;
        const double *left = c > 0 ? column - m : in[west];
        const double *right = c < n - 1 ? column + m : in[east];
        for (int r = 0; r < m; ++r) {
            const double up = r > 0 ? column[r - 1] : in[north][c];
            const double down = r < m - 1 ? column[r + 1] : in[south][c];
            column[r] = 0.25 * (up + down + left[r] + right[r]);
        }
    }
}

static int prepare(const struct options *options, int rank, int ranks, struct block_map *map) {
    plan_map(&g_map, options, options->n, rank, ranks);
    g_map.contiguous = true;
    int *most = NULL, known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
    const long tags = (long)g_map.blocks * g_map.blocks * sides * options->sweeps;
    if (tags > (known ? (long)*most : 32767L)) {
        if (rank == 0)
            fprintf(stderr, "wavefront: %ld edges need more message tags than this MPI has\n",
                    tags);
        return 2;
    }
    make_tiles(&g_map, false);
    const size_t edges = (size_t)g_map.blocks * (size_t)g_map.blocks * sides;
    g_edges = need(calloc(edges, (size_t)g_map.block * sizeof(double)), "the edges");
    g_zeros = need(calloc((size_t)g_map.block, sizeof(double)), "the edges");
    g_sweeps = options->sweeps;
    *map = g_map;
    return 0;
}

static void restart(const struct options *options) {
    (void)options;
    for (int i = 0; i < g_map.blocks; ++i)
        for (int j = 0; j < g_map.blocks; ++j) {
            /* All ranks know all edges of the beginning. */
            const int m = extent(&g_map, i), n = extent(&g_map, j);
            const int row = i * g_map.block, column = j * g_map.block;
            for (int c = 0; c < n; ++c) {
                edge(&g_map, i, j, north)[c] = initial(row, column + c);
                edge(&g_map, i, j, south)[c] = initial(row + m - 1, column + c);
            }
            for (int r = 0; r < m; ++r) {
                edge(&g_map, i, j, west)[r] = initial(row + r, column);
                edge(&g_map, i, j, east)[r] = initial(row + r, column + n - 1);
            }
            double *tile = block_at(&g_map, i, j);
            for (int c = 0; tile && c < n; ++c)
                for (int r = 0; r < m; ++r)
                    tile[(size_t)c * (size_t)m + (size_t)r] = initial(row + r, column + c);
        }
}

static void sweep_tile(const struct block_map *map, struct plan *plan, int i, int j) {
    const int m = extent(map, i), n = extent(map, j);
    struct access accesses[2 * sides];
    int count = 0;
    for (enum side side = 0; side < sides; ++side) {
        int ni, nj;
        accesses[count++] = (struct access){edge_number(map, i, j, side), true};
        if (neighbour(map, i, j, side, &ni, &nj))
            accesses[count++] = (struct access){edge_number(map, ni, nj, opposite(side)), false};
    }
    const int priority = note_task(plan, kernel_seconds(sweep, m, n, 1), count, accesses);
    if (priority < 0)
        return;
    ++g_counts.kernel[sweep];
    double *tile = block_at(map, i, j);
    double *up = edge(map, i - 1, j, south), *down = edge(map, i + 1, j, north);
    double *left = edge(map, i, j - 1, east), *right = edge(map, i, j + 1, west);
    double *mine0 = edge(map, i, j, north), *mine1 = edge(map, i, j, south);
    double *mine2 = edge(map, i, j, west), *mine3 = edge(map, i, j, east);
#pragma omp task depend(in : up[0], down[0], left[0], right[0])                                    \
    depend(inout : mine0[0], mine1[0], mine2[0], mine3[0])                                         \
    firstprivate(tile, up, down, left, right, mine0, mine1, mine2, mine3, m, n) priority(priority)
    {
        if (emulated()) {
            hold(sweep, m, n, 1);
        } else {
            relax(tile, m, n, (const double *const[]){up, down, left, right});
            copy_edges(tile, m, n, (double *const[]){mine0, mine1, mine2, mine3});
        }
    }
}

/* Tile (i, j) has been swept: its edges go to the neighbours that are another rank's. */
static void spread_edges(const struct block_map *map, struct exchange *exchange, struct plan *plan,
                         int sweep_number, int i, int j) {
    for (enum side side = 0; side < sides; ++side) {
        int ni, nj;
        if (!neighbour(map, i, j, side, &ni, &nj))
            continue;
        const int from = owner(map, i, j), to = owner(map, ni, nj);
        const int size = side < west ? extent(map, j) : extent(map, i);
        const long number = edge_number(map, i, j, side);
        const int tag = (int)((long)sweep_number * map->blocks * map->blocks * sides + number);
        if (from == to)
            continue;
        if (from == map->rank)
            send_data(exchange, plan, number, edge(map, i, j, side), size, to, tag);
        else if (to == map->rank)
            receive_data(exchange, plan, number, edge(map, i, j, side), size, from, tag);
    }
    end_step(exchange);
}

static void sweep_all(void *options, const struct block_map *map, struct exchange *exchange,
                      struct plan *plan) {
    (void)options;
    for (int s = 0; s < g_sweeps; ++s)
        for (int i = 0; i < map->blocks; ++i)
            for (int j = 0; j < map->blocks; ++j) {
                if (mine(map, i, j))
                    sweep_tile(map, plan, i, j);
                spread_edges(map, exchange, plan, s, i, j);
            }
}

static int never_fails(void) {
    return 0;
}

/* The greatest difference to sweeps over the whole grid by one thread. */
static double verify(const struct options *options) {
    const int n = options->n;
    double *grid = need(malloc((size_t)n * (size_t)n * sizeof(double)), "the grid");
    double *zeros = need(calloc((size_t)n, sizeof(double)), "the grid");
    for (int c = 0; c < n; ++c)
        for (int r = 0; r < n; ++r)
            grid[(size_t)c * (size_t)n + (size_t)r] = initial(r, c);
    for (int s = 0; s < options->sweeps; ++s)
        relax(grid, n, n, (const double *const[]){zeros, zeros, zeros, zeros});
    double worst = 0.0;
    for (int i = 0; i < g_map.blocks; ++i)
        for (int j = 0; j < g_map.blocks; ++j) {
            const double *tile = block_at(&g_map, i, j);
            const int m = extent(&g_map, i), width = extent(&g_map, j);
            for (int c = 0; tile && c < width; ++c)
                for (int r = 0; r < m; ++r) {
                    const size_t at =
                        (size_t)(j * g_map.block + c) * (size_t)n + (size_t)(i * g_map.block + r);
                    worst = fmax(worst, fabs(tile[(size_t)c * (size_t)m + (size_t)r] - grid[at]));
                }
        }
    free(grid);
    free(zeros);
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static void finish(void) {
    free_map(&g_map);
    free(g_edges);
    free(g_zeros);
}

int main(int argc, char **argv) {
    static const struct program program = {
        .name = "wavefront",
        .defaults = {.n = 1024, .block = 128, .repeat = 1, .sweeps = 10, .check = true},
        .prepare = prepare,
        .restart = restart,
        .walk = sweep_all,
        .failed = never_fails,
        .verify = verify,
        .finish = finish,
    };
    return run_program(argc, argv, &program);
}
