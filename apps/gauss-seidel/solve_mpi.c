/* SPDX-License-Identifier: Apache-2.0
 *
 * The versions without tasks, and the exchange of whole rows, which fork-join has too.
 *
 * Blocking sends may wait for their receives and still nobody waits for ever: every rank first
 * gives its first row upwards, then takes the row above it, then the one below. So the exchanges of
 * an iteration are in one order for all ranks, from the first rank to the last.
 */
#include "gauss_seidel.h"

#include <stdlib.h>

void receive_rows(const struct grid *grid) {
    const int n = grid->columns;
    MPI_Send(cell(grid, 0, 0), n, MPI_DOUBLE, grid->above, 0, MPI_COMM_WORLD);
    MPI_Recv(cell(grid, -1, 0), n, MPI_DOUBLE, grid->above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(cell(grid, grid->rows, 0), n, MPI_DOUBLE, grid->below, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

void send_last_row(const struct grid *grid) {
    MPI_Send(cell(grid, grid->rows - 1, 0), grid->columns, MPI_DOUBLE, grid->below, 0,
             MPI_COMM_WORLD);
}

void solve_pure(const struct grid *grid, const struct block *block, const struct exchange *exchange,
                int iterations) {
    (void)block, (void)exchange;
    for (int t = 0; t < iterations; ++t) {
        receive_rows(grid);
        relax(grid, 0, grid->rows, 0, grid->columns);
        send_last_row(grid);
    }
}

/* ---- N-buffer ---- */

enum { first_sent, last_sent, above_received, below_received, messages };

/* What the next iteration of a block of columns needs. Its own first row must stay as it is until
 * it has been sent. */
static void begin_iteration(const struct grid *grid, int column, int columns, int tag,
                            MPI_Request *request) {
    MPI_Isend(cell(grid, 0, column), columns, MPI_DOUBLE, grid->above, tag, MPI_COMM_WORLD,
              &request[first_sent]);
    MPI_Irecv(cell(grid, -1, column), columns, MPI_DOUBLE, grid->above, tag, MPI_COMM_WORLD,
              &request[above_received]);
    MPI_Irecv(cell(grid, grid->rows, column), columns, MPI_DOUBLE, grid->below, tag, MPI_COMM_WORLD,
              &request[below_received]);
}

void solve_nbuffer(const struct grid *grid, const struct block *block,
                   const struct exchange *exchange, int iterations) {
    (void)exchange;
    const int blocks = (grid->columns + block->columns - 1) / block->columns;
    MPI_Request(*requests)[messages] =
        need(malloc((size_t)blocks * sizeof *requests), "the requests");
    for (int t = 0; t < iterations; ++t)
        for (int j = 0; j < blocks; ++j) {
            const int column = j * block->columns, left = grid->columns - column;
            const int columns = left < block->columns ? left : block->columns;
            if (t == 0) {
                requests[j][last_sent] = MPI_REQUEST_NULL;
                begin_iteration(grid, column, columns, j, requests[j]);
            }
            MPI_Waitall(messages, requests[j], MPI_STATUSES_IGNORE);
            relax(grid, 0, grid->rows, column, columns);
            MPI_Isend(cell(grid, grid->rows - 1, column), columns, MPI_DOUBLE, grid->below, j,
                      MPI_COMM_WORLD, &requests[j][last_sent]);
            if (t + 1 < iterations)
                begin_iteration(grid, column, columns, j, requests[j]);
        }
    if (iterations > 0)
        for (int j = 0; j < blocks; ++j)
            MPI_Wait(&requests[j][last_sent], MPI_STATUS_IGNORE);
    free(requests);
}
