/* SPDX-License-Identifier: Apache-2.0
 *
 * A strip, its kernel, and the exact solution. The matrix begins as a sum of two waves that are
 * zero on the border. A step only makes each of them smaller, by a factor that is known.
 */
#include "share.h"
#include "stencil.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const struct wave {
    int down, across; /* half waves */
    double height;
} waves[] = {{1, 1, 1.0}, {3, 2, 0.5}};
enum { wave_count = sizeof waves / sizeof *waves };
static const double pi = 3.14159265358979323846;

size_t strip_bytes(int rows, int columns) {
    return sizeof(struct strip) + 2 * ((size_t)rows + 2) * ((size_t)columns + 2) * sizeof(double);
}

struct strip *new_strip(int first, int rows, int columns) {
    struct strip *made = malloc(strip_bytes(rows, columns));
    if (!made) {
        say(0, "no memory for %d x %d cells", rows, columns);
        MPI_Abort(MPI_COMM_WORLD, no_memory);
    }
    *made = (struct strip){.first = first, .rows = rows, .columns = columns};
    return made;
}

/* ---- waves ---- */

struct profile {
    double down[wave_count]; /* of this row, at this step: each wave's height there */
    double turn[wave_count]; /* radians from one column to the next */
};

static struct profile profile_of(const struct options *options, int row, int step) {
    struct profile made;
    for (int i = 0; i < wave_count; ++i) {
        const double down = pi * waves[i].down / (options->rows + 1);
        const double across = pi * waves[i].across / (options->columns + 1);
        made.down[i] =
            waves[i].height * pow((cos(down) + cos(across)) / 2.0, step) * sin(down * (row + 1));
        made.turn[i] = across;
    }
    return made;
}

static double value(const struct profile *profile, int column) {
    double sum = 0.0;
    for (int i = 0; i < wave_count; ++i)
        sum += profile->down[i] * sin(profile->turn[i] * (column + 1));
    return sum;
}

void begin_row(struct strip *strip, const struct options *options, int row) {
    const size_t width = (size_t)strip->columns + 2;
    double *here = row_of(strip, 0, row);
    memset(here, 0, width * sizeof *here);
    memset(row_of(strip, 1, row), 0, width * sizeof *here);
    const int place = strip->first + row;
    if (place < 0 || place >= options->rows)
        return;
    const struct profile profile = profile_of(options, place, 0);
    for (int column = 0; column < strip->columns; ++column)
        here[column + 1] = value(&profile, column);
}

/* ---- a step ---- */

void relax_row(struct strip *strip, int row) {
    const double *here = row_of(strip, strip->now, row);
    const double *up = row_of(strip, strip->now, row - 1),
                 *down = row_of(strip, strip->now, row + 1);
    double *restrict next = row_of(strip, 1 - strip->now, row);
    for (int c = 1; c <= strip->columns; ++c)
        next[c] = 0.25 * ((up[c] + down[c]) + (here[c - 1] + here[c + 1]));
}

/* ---- the end ---- */

/* A mean rounds by less than 2 epsilon of the largest value, and errors of the steps before do not
 * grow in it. The heights of the waves add up to 1.5; that of the exact solution rounds, too. */
double error_limit(const struct options *options) {
    return DBL_EPSILON * 1.5 * (2.0 * options->steps + 32.0);
}

void look_at(struct strip *strip, const struct options *options, struct outcome *found) {
    for (int row = 0; row < strip->rows; ++row) {
        const double *here = row_of(strip, strip->now, row) + 1;
        const int place = strip->first + row;
        const struct profile profile = profile_of(options, place, options->steps);
        for (int column = 0; column < strip->columns; ++column) {
            const uint64_t at = (uint64_t)place * (uint64_t)strip->columns + (uint64_t)column;
            found->sum += value_sum(here[column], at);
            if (options->arguments.check) {
                const double error = fabs(here[column] - value(&profile, column));
                if (!(error <= found->error))
                    found->error = error;
            }
        }
    }
}
