/* SPDX-License-Identifier: Apache-2.0
 *
 * The serial solver, by rank 0 over the whole grid, and the comparison of bits.
 */
#include "gauss_seidel.h"

#include <stdlib.h>
#include <string.h>

struct serial {
    struct grid grid; /* on rank 0: as if it were alone */
    int different;    /* cells */
    int row, column;  /* of the first of them */
    double found;
};

static void keep(void *data, int row, const double *cells) {
    const struct grid *grid = &((struct serial *)data)->grid;
    memcpy(cell(grid, row - 1, -1), cells, ((size_t)grid->columns + 2) * sizeof(double));
}

struct serial *remember_start(const struct grid *grid) {
    struct serial *serial = need(calloc(1, sizeof *serial), "the serial solver");
    if (grid->rank == 0) {
        serial->grid = *grid;
        serial->grid.rows = grid->all_rows;
        const size_t size = ((size_t)grid->all_rows + 2) * ((size_t)grid->columns + 2);
        serial->grid.cells = need(malloc(size * sizeof(double)), "the serial solver's grid");
    }
    gather_rows(grid, keep, serial);
    return serial;
}

static void compare(void *data, int row, const double *cells) {
    struct serial *serial = data;
    for (int column = 0; column < serial->grid.columns + 2; ++column)
        if (memcmp(&cells[column], cell(&serial->grid, row - 1, column - 1), sizeof *cells) != 0 &&
            serial->different++ == 0) {
            serial->row = row;
            serial->column = column;
            serial->found = cells[column];
        }
}

bool same_as_serial(const struct grid *grid, struct serial *serial, int iterations) {
    const struct grid *whole = &serial->grid;
    for (int t = 0; grid->rank == 0 && t < iterations; ++t)
        relax(whole, 0, whole->rows, 0, whole->columns);
    gather_rows(grid, compare, serial);
    int different = serial->different;
    MPI_Bcast(&different, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (different && grid->rank == 0)
        say(0,
            "%d cells differ from the serial solver's; first row %d, column %d: %.17g, not %.17g",
            different, serial->row, serial->column, serial->found,
            *cell(whole, serial->row - 1, serial->column - 1));
    free(serial->grid.cells);
    free(serial);
    return !different;
}
