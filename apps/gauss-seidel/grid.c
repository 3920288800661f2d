/* SPDX-License-Identifier: Apache-2.0
 *
 * The grid, its kernel, and its rows one after the other for rank 0. Rows are dealt out in order,
 * as evenly as it gets.
 */
#include "gauss_seidel.h"
#include "share.h"

#include <stdlib.h>

static int first_row(const struct grid *grid, int rank) {
    return first_of(grid->all_rows, grid->ranks, rank);
}

int make_grid(struct grid *grid, int rows, int columns) {
    *grid = (struct grid){.all_rows = rows, .columns = columns};
    MPI_Comm_rank(MPI_COMM_WORLD, &grid->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &grid->ranks);
    if (rows < grid->ranks) {
        say(grid->rank, "%d rows cannot be dealt to %d ranks", rows, grid->ranks);
        return bad_input;
    }
    grid->first = first_row(grid, grid->rank);
    grid->rows = first_row(grid, grid->rank + 1) - grid->first;
    grid->above = grid->rank > 0 ? grid->rank - 1 : MPI_PROC_NULL;
    grid->below = grid->rank + 1 < grid->ranks ? grid->rank + 1 : MPI_PROC_NULL;
    const size_t size = ((size_t)grid->rows + 2) * ((size_t)columns + 2);
    grid->cells = need(calloc(size, sizeof(double)), "the grid");
    return 0;
}

void set_border(const struct grid *grid, const struct sources *sources) {
    const double height = grid->all_rows + 1, width = grid->columns + 1;
    for (int row = -1; row <= grid->rows; ++row) {
        const int place = grid->first + row + 1; /* 0: the border above */
        const bool whole = place == 0 || place == grid->all_rows + 1;
        for (int column = -1; column <= grid->columns; ++column)
            if (whole || column == -1 || column == grid->columns)
                *cell(grid, row, column) =
                    temperature_at(sources, (column + 1) / width, place / height);
    }
}

/* What is known early is added first: the left neighbour is the last to be computed. */
void relax(const struct grid *grid, int row, int rows, int column, int columns) {
    const size_t stride = (size_t)grid->columns + 2;
    for (int r = 0; r < rows; ++r) {
        double *here = cell(grid, row + r, column);
        const double *up = here - stride, *down = here + stride;
        double left = here[-1];
        for (int c = 0; c < columns; ++c)
            here[c] = left = 0.25 * (((up[c] + down[c]) + here[c + 1]) + left);
    }
}

uint64_t checksum(const struct grid *grid) {
    uint64_t sum = 0;
    for (int row = 0; row < grid->rows; ++row)
        for (int column = 0; column < grid->columns; ++column) {
            const uint64_t place =
                (uint64_t)(grid->first + row) * (uint64_t)grid->columns + (uint64_t)column;
            sum += value_sum(*cell(grid, row, column), place);
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Who has row `place` of the grid with its border? */
static int holder(const struct grid *grid, int place, int rank) {
    while (rank + 1 < grid->ranks && place > first_row(grid, rank + 1))
        ++rank;
    return rank;
}

void gather_rows(const struct grid *grid, void (*take)(void *data, int row, const double *cells),
                 void *data) {
    const int width = grid->columns + 2;
    double *buffer = need(malloc((size_t)width * sizeof(double)), "a row");
    for (int place = 0, from = 0; place < grid->all_rows + 2; ++place) {
        from = holder(grid, place, from);
        double *own = from == grid->rank ? cell(grid, place - 1 - grid->first, -1) : NULL;
        if (own && grid->rank != 0)
            MPI_Send(own, width, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (grid->rank != 0)
            continue;
        if (!own)
            MPI_Recv(buffer, width, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        take(data, place, own ? own : buffer);
    }
    free(buffer);
}

void scatter_rows(const struct grid *grid, void (*give)(void *data, int row, double *cells),
                  void *data) {
    const int width = grid->columns + 2;
    double *buffer = need(malloc((size_t)width * sizeof(double)), "a row");
    for (int place = 0, to = 0; place < grid->all_rows + 2; ++place) {
        to = holder(grid, place, to);
        double *own = to == grid->rank ? cell(grid, place - 1 - grid->first, -1) : NULL;
        if (grid->rank == 0) {
            give(data, place, own ? own : buffer);
            if (!own)
                MPI_Send(buffer, width, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        } else if (own) {
            MPI_Recv(own, width, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(buffer);
}
