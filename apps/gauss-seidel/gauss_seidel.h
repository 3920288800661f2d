/* SPDX-License-Identifier: Apache-2.0
 *
 * The heat equation by Gauss-Seidel iterations over a grid of rows x columns cells, within a border
 * of fixed temperatures. In every iteration a cell becomes the mean of its four neighbours: those
 * above and to the left as of this iteration, those below and to the right as of the one before.
 *
 * Invariant: every version computes each cell from the same four numbers, in the same order of
 * additions. So all give the same grid bit by bit, with any number of ranks, threads and blocks.
 */
#ifndef GAUSS_SEIDEL_H
#define GAUSS_SEIDEL_H

#include "program.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rank has whole rows, and one more on either side: the border, or a neighbour's nearest row. */
struct grid {
    int all_rows, columns;
    int first, rows; /* ours: which is the first of all, and how many */
    int rank, ranks;
    int above, below; /* ranks, or MPI_PROC_NULL */
    double *cells;    /* (rows + 2) x (columns + 2) */
};

/* Rows and columns of our own begin with 0; -1 and `rows` or `columns` are beyond them. */
static inline double *cell(const struct grid *grid, int row, int column) {
    return grid->cells + (size_t)(row + 1) * ((size_t)grid->columns + 2) + (size_t)(column + 1);
}

struct block {
    int rows, columns;
};

struct source {
    double x, y, range, temperature;
};

struct options {
    const struct version *version;
    int rows, columns, iterations;
    struct block block;
    const char *sources, *picture, *checkpoint, *restart; /* files */
    int every;                                            /* iterations between checkpoints */
    bool sized;
    struct arguments arguments;
};

/* How the ranks' edges travel. `sentinels`: 1, tasks that communicate run one after the other; 0,
 * in any order that their data allow. */
enum way { blocking, bound, detached };
struct exchange {
    enum way way;
    int sentinels;
};

typedef void solver(const struct grid *grid, const struct block *block,
                    const struct exchange *exchange, int iterations);
struct version {
    struct label label;
    int level;          /* of MPI's threads, at least */
    bool task_multiple; /* asks for MPI_TASK_MULTIPLE */
    enum way way;
    solver *solve;
};

/* ---- options.c, versions.c ---- */
void read_options(int argc, char **argv, struct options *options);
void print_usage(void);
const struct version *find_version(const char *name);
void print_versions(void);
int level_to_ask(const struct version *version);
/* 0, or an exit code after a line: what the version needs of this MPI and runtime. */
int check_version(const struct version *version, int provided, int rank, struct exchange *exchange);

/* ---- sources.c ---- */
struct sources {
    int count;
    struct source *list;
};
/* Rank 0 reads the file, or takes the sources that are built in; all ranks get them. */
int read_sources(const char *path, int rank, struct sources *sources);
double temperature_at(const struct sources *sources, double x, double y);

/* ---- grid.c ---- */
int make_grid(struct grid *grid, int rows, int columns);
void set_border(const struct grid *grid, const struct sources *sources);
void relax(const struct grid *grid, int row, int rows, int column, int columns);
uint64_t checksum(const struct grid *grid);
/* Rank 0 gets every row of the whole grid with its border, or gives it, one after the other. */
void gather_rows(const struct grid *grid, void (*take)(void *data, int row, const double *cells),
                 void *data);
void scatter_rows(const struct grid *grid, void (*give)(void *data, int row, double *cells),
                  void *data);

/* ---- solvers ---- */
solver solve_pure, solve_nbuffer, solve_forkjoin, solve_tasks;
#ifdef WITH_FORTRAN
solver solve_pure_fortran, solve_tasks_fortran;
#endif
void receive_rows(const struct grid *grid);
void send_last_row(const struct grid *grid);

/* ---- transfer.c: a task for each message. `token`: what the message is a dependence on. ---- */
struct message {
    double *cells;
    int count, peer, tag;
};
void send_in_task(const struct exchange *exchange, char *token, struct message message);
void receive_in_task(const struct exchange *exchange, char *token, struct message message);
bool can_detach(void);

/* ---- check.c ---- */
struct serial;
struct serial *remember_start(const struct grid *grid);
/* Is the grid what a serial solver makes of the start? Says what differs. */
bool same_as_serial(const struct grid *grid, struct serial *serial, int iterations);

/* ---- picture.c, checkpoint.c: 0 or an exit code after a line, on all ranks ---- */
bool can_draw(void);
int draw(const struct grid *grid, const char *path);
bool can_checkpoint(void);
int write_checkpoint(const struct grid *grid, const char *path, int iterations);
int read_checkpoint(const char *path, struct grid *grid, int *iterations);

#endif
