/* SPDX-License-Identifier: Apache-2.0
 *
 * The versions with a task for each block: fork-join, and those whose messages are tasks too. A
 * block has a token, and so has what is received above and below: dependences are on tokens. A
 * block of an iteration follows those above and to the left of it, and those below and to the right
 * of the iteration before, as tasks are created in the order of rows.
 */
#include "gauss_seidel.h"

#include <stdlib.h>

struct tiles {
    const struct grid *grid;
    struct block block;
    int rows, columns;
    char *tokens; /* [rows + 2][columns + 2] */
};

static struct tiles make_tiles(const struct grid *grid, const struct block *block) {
    struct tiles tiles = {.grid = grid, .block = *block};
    tiles.rows = (grid->rows + block->rows - 1) / block->rows;
    tiles.columns = (grid->columns + block->columns - 1) / block->columns;
    tiles.tokens =
        need(calloc((size_t)tiles.rows + 2, (size_t)tiles.columns + 2), "the blocks' tokens");
    return tiles;
}

static char *token(const struct tiles *tiles, int i, int j) {
    return tiles->tokens + (size_t)(i + 1) * ((size_t)tiles->columns + 2) + (size_t)(j + 1);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static int width(const struct tiles *tiles, int j) {
    return least(tiles->block.columns, tiles->grid->columns - j * tiles->block.columns);
}

static void relax_in_tasks(const struct tiles *tiles) {
    const struct grid *grid = tiles->grid;
    for (int i = 0; i < tiles->rows; ++i)
        for (int j = 0; j < tiles->columns; ++j) {
            const int row = i * tiles->block.rows, column = j * tiles->block.columns;
            const int rows = least(tiles->block.rows, grid->rows - row), columns = width(tiles, j);
            char *here = token(tiles, i, j);
            const char *up = token(tiles, i - 1, j), *down = token(tiles, i + 1, j);
            const char *left = here - 1, *right = here + 1;
            (void)up, (void)down, (void)left, (void)right; /* GCC 12 sees no use */
#pragma omp task depend(in : up[0], down[0], left[0], right[0]) depend(inout : here[0])            \
    firstprivate(grid, row, rows, column, columns)
            relax(grid, row, rows, column, columns);
        }
}

void solve_forkjoin(const struct grid *grid, const struct block *block,
                    const struct exchange *exchange, int iterations) {
    (void)exchange;
    struct tiles tiles = make_tiles(grid, block);
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < iterations; ++t) {
        receive_rows(grid);
        relax_in_tasks(&tiles);
#pragma omp taskwait
        send_last_row(grid);
    }
    free(tiles.tokens);
}

/* A message for each block of columns; its tag is the number of that. */
static struct message message_of(const struct tiles *tiles, int row, int j, int peer) {
    return (struct message){cell(tiles->grid, row, j * tiles->block.columns), width(tiles, j), peer,
                            j};
}

/* One iteration. The order is that of receive_rows() and send_last_row(): with a sentinel, tasks
 * that communicate run in it. */
static void iterate(const struct tiles *tiles, const struct exchange *exchange) {
    const struct grid *grid = tiles->grid;
    const int above = grid->above, below = grid->below, rows = tiles->rows;
    for (int j = 0; j < tiles->columns && above != MPI_PROC_NULL; ++j)
        send_in_task(exchange, token(tiles, 0, j), message_of(tiles, 0, j, above));
    for (int j = 0; j < tiles->columns && above != MPI_PROC_NULL; ++j)
        receive_in_task(exchange, token(tiles, -1, j), message_of(tiles, -1, j, above));
    for (int j = 0; j < tiles->columns && below != MPI_PROC_NULL; ++j)
        receive_in_task(exchange, token(tiles, rows, j), message_of(tiles, grid->rows, j, below));
    relax_in_tasks(tiles);
    for (int j = 0; j < tiles->columns && below != MPI_PROC_NULL; ++j)
        send_in_task(exchange, token(tiles, rows - 1, j),
                     message_of(tiles, grid->rows - 1, j, below));
}

void solve_tasks(const struct grid *grid, const struct block *block,
                 const struct exchange *exchange, int iterations) {
    struct tiles tiles = make_tiles(grid, block);
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < iterations; ++t)
        iterate(&tiles, exchange);
    free(tiles.tokens);
}
