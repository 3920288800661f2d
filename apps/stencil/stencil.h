/* SPDX-License-Identifier: Apache-2.0
 *
 * A stencil over a matrix within a border of zeros: in every step a cell becomes the mean of its
 * four neighbours as of the step before. The same rows are computed by objects, by objects whose
 * loops are shared, and by plain OpenMP.
 *
 * Invariant: every version computes each cell from the same four numbers, in the same order of
 * additions. So all give the same bits, with any number of strips, ranks and threads.
 */
#ifndef STENCIL_H
#define STENCIL_H

#include "program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    const struct version *version;
    int rows, columns, strips, steps;
    int period; /* steps between two calls of the balancer; 0: never */
    struct arguments arguments;
};

/* Rows of the matrix, with one more on either side. It may move between ranks as it is. */
struct strip {
    int first, rows, columns;
    int now;        /* which of the two has the cells; the other one is for the next step */
    double cells[]; /* [2][rows + 2][columns + 2] */
};

static inline double *row_of(struct strip *strip, int which, int row) {
    const size_t height = (size_t)strip->rows + 2, width = (size_t)strip->columns + 2;
    return strip->cells + ((size_t)which * height + (size_t)(row + 1)) * width;
}

/* What was computed: on this rank, or on all. */
struct outcome {
    double seconds;
    long moved; /* objects */
    uint64_t sum;
    double error; /* the largest difference from the exact solution */
};

struct version {
    struct label label;
    bool ranks; /* may have more than one */
    void (*run)(const struct options *options, struct outcome *found);
};

/* ---- options.c ---- */
void read_options(int argc, char **argv, struct options *options);
void print_usage(void);

/* ---- strip.c ---- */
size_t strip_bytes(int rows, int columns);
struct strip *new_strip(int first, int rows, int columns);
/* The start, of one row; rows before the first and after the last are the halo. */
void begin_row(struct strip *strip, const struct options *options, int row);
/* A row of the next step. */
void relax_row(struct strip *strip, int row);
void look_at(struct strip *strip, const struct options *options, struct outcome *found);
double error_limit(const struct options *options);

/* ---- versions.c ---- */
void run_objects(const struct options *options, struct outcome *found);
void run_shared(const struct options *options, struct outcome *found);
void run_plain(const struct options *options, struct outcome *found);

#endif
