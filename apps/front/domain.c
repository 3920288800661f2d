/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The source is a little away from the corner of the mesh, so that no cell is on it. */
static const double kSource = -2;
static const double kExact = 8; /* so near to the source cells know their time from the beginning */
static const double kBand = 4;  /* half of the width of what is updated */
/* On each edge. So many that a cell in the band costs about 27 times what another one does. */
enum { kPoints = 6 };
enum { kPiece = 8 };            /* cells that a thread takes at once */
static const double kBurn = 16; /* so long after the front 63% of a cell are burnt */

/* The scheme is of first order: one cell. What a neighbour tells is a step old, so each border that
 * the front crosses adds to that; measured: 1/36 of a cell with domains of 8 x 8 cells, 1/29 with 4
 * x 4. */
double front_tolerance(const front_options *options) {
    return fmax(1, options->side / 24.0);
}

/* Where the front may come from: its time by that way, the edge (-1: no inner point of one), and
 * the place on it. */
typedef struct {
    double time;
    int edge;
    double s;
} candidate;

static double exact(int x, int y) {
    return hypot(x - kSource, y - kSource);
}

size_t domain_bytes(int cells) {
    return sizeof(domain) + (size_t)(cells + 2) * (size_t)(cells + 2) * sizeof(double);
}

domain *make_domain(const front_options *options, int column, int row) {
    domain *one = malloc(domain_bytes(options->cells));
    if (!one)
        return NULL;
    *one =
        (domain){.cells = options->cells, .x = column * options->cells, .y = row * options->cells};
    for (int y = 0; y < options->cells + 2; ++y)
        for (int x = 0; x < options->cells + 2; ++x) {
            const double time = exact(one->x + x - 1, one->y + y - 1);
            const int inside = x > 0 && y > 0 && x <= options->cells && y <= options->cells;
            *cell(one, x, y) = inside && time < kExact ? time : INFINITY;
        }
    return one;
}

/* A step of a domain. Bodies of loops write what belongs to their cells only. */
typedef struct {
    domain *one;
    int stride;
    double now;
    const int *band; /* where its cells are in `arrival` */
    int count;
    candidate *best; /* of each cell of the band */
} update;

/* The time at a point of an edge, plus the distance from there. */
static double from_point(double s, double ta, const int *a, double tb, const int *b) {
    const double x = a[0] + s * (b[0] - a[0]), y = a[1] + s * (b[1] - a[1]);
    return ta + s * (tb - ta) + sqrt(x * x + y * y);
}

static const int kRing[9][2] = {{1, 0},   {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                {-1, -1}, {0, -1}, {1, -1}, {1, 0}};

static double at_ring(const double *at, int stride, int i) {
    return at[kRing[i][1] * stride + kRing[i][0]];
}

/* The first loop: which point of the edges between its neighbours is it that the front comes from?
 * An edge of which one end is not known has no points but the other end. */
static void find_nearest(const update *step, int from, int to) {
    for (int k = from; k < to; ++k) {
        const double *const at = step->one->arrival + step->band[k];
        candidate best = {*at, -1, 0};
        for (int i = 0; i < 8; ++i) {
            const double ta = at_ring(at, step->stride, i), tb = at_ring(at, step->stride, i + 1);
            const int points = isinf(ta) || isinf(tb) ? 0 : kPoints;
            for (int j = 0; j <= points; ++j) {
                const double s = (double)j / kPoints;
                const double time = points ? from_point(s, ta, kRing[i], tb, kRing[i + 1])
                                           : ta + hypot(kRing[i][0], kRing[i][1]);
                if (time < best.time)
                    best = (candidate){time, points ? i : -1, s};
            }
        }
        step->best[k] = best;
    }
}

/* The second loop: more points, around that one. */
static void sharpen(const update *step, int from, int to) {
    for (int k = from; k < to; ++k) {
        const double *const at = step->one->arrival + step->band[k];
        const candidate found = step->best[k];
        if (found.edge < 0)
            continue;
        const double ta = at_ring(at, step->stride, found.edge);
        const double tb = at_ring(at, step->stride, found.edge + 1);
        for (int j = -kPoints; j <= kPoints; ++j) {
            const double s = found.s + (double)j / (kPoints * kPoints);
            const double time = from_point(s, ta, kRing[found.edge], tb, kRing[found.edge + 1]);
            if (s >= 0 && s <= 1 && time < step->best[k].time)
                step->best[k].time = time;
        }
    }
}

/* The third loop, when all cells have their new times: how steep is the front? Its speed is 1, so
 * its slope should be. `time` is its distance from 1 now; negative: there is no slope yet. */
static void measure_slope(const update *step, int from, int to) {
    for (int k = from; k < to; ++k) {
        const double *const at = step->one->arrival + step->band[k];
        const double x = *at - fmin(at[-1], at[1]);
        const double y = *at - fmin(at[-step->stride], at[step->stride]);
        const double slope = sqrt(fmax(x, 0) * fmax(x, 0) + fmax(y, 0) * fmax(y, 0));
        step->best[k].time = *at <= step->now && isfinite(slope) ? fabs(slope - 1) : -1;
    }
}

typedef void body(const update *step, int from, int to);

static void run_cells(const update *step, body *loop, int from, int to, double cell_s) {
    const struct timespec begun = work_begin();
    loop(step, from, to);
    const double took = work_end(begun, (to - from) * cell_s);
#pragma omp atomic
    step->one->cost.band_s += took;
}

static void run_piece(const update *step, body *loop, size_t piece, double cell_s) {
    const int from = (int)piece * kPiece, end = from + kPiece;
    run_cells(step, loop, from, end < step->count ? end : step->count, cell_s);
}

/* A loop over the band's cells. `share`: what it is of the emulated cost of a cell in the band. */
static void over_band(const update *step, const front_options *options, body *loop, double share) {
    const double cell_s = options->emulate_s * (options->ratio - 1) * share;
    const size_t pieces = (size_t)(step->count + kPiece - 1) / kPiece; /* for clang's taskloop */
    switch (options->loops) {
    case loops_taskloop:
#pragma omp taskloop grainsize(1)
        for (size_t i = 0; i < pieces; ++i)
            run_piece(step, loop, i, cell_s);
        break;
    case loops_parallel:
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < pieces; ++i)
            run_piece(step, loop, i, cell_s);
        break;
    default:
        if (step->count > 0)
            run_cells(step, loop, 0, step->count, cell_s);
    }
}

/* Is the cell in the band, and may it know its time? */
static int in_band(const double *at, int stride, double now) {
    if (*at < now - kBand)
        return 0;
    for (int y = -stride; y <= stride; y += stride)
        for (int x = -1; x <= 1; ++x)
            if (at[y + x] <= now + kBand)
                return 1;
    return 0;
}

/* What is done with every cell: memory more than anything else, so no more threads than this one.
 * Finds the band; what is behind the front burns. */
static int pass_over(domain *one, const front_options *options, double now, int *band) {
    const int cells = one->cells, stride = cells + 2;
    const struct timespec begun = work_begin();
    int count = 0;
    one->burnt = 0;
    for (int y = 1; y <= cells; ++y)
        for (int x = 1; x <= cells; ++x) {
            const double *const at = cell(one, x, y);
            if (in_band(at, stride, now))
                band[count++] = y * stride + x;
            const double since = fmax(now - *at, 0);
            one->burnt += 1 - exp(-since / kBurn);
        }
    one->cost.outside_s += work_end(begun, (double)cells * cells * options->emulate_s);
    one->cost.outside += (long)cells * cells;
    one->cost.band += count;
    return count;
}

void advance(domain *one, const front_options *options, double now) {
    const size_t cells = (size_t)one->cells * (size_t)one->cells;
    const double before_s = one->cost.outside_s + one->cost.band_s;
    int *band = malloc(cells * sizeof *band);
    candidate *best = malloc(cells * sizeof *best);
    if (!band || !best) {
        fprintf(stderr, "front: no memory for a step of %d x %d cells\n", one->cells, one->cells);
        abort();
    }
    const int count = pass_over(one, options, now, band);
    const update step = {one, one->cells + 2, now, band, count, best};
    over_band(&step, options, find_nearest, 0.6);
    over_band(&step, options, sharpen, 0.3);
    for (int i = 0; i < count; ++i)
        one->arrival[band[i]] = best[i].time;
    over_band(&step, options, measure_slope, 0.1);
    for (int i = 0; i < count; ++i)
        if (best[i].time >= 0) {
            one->slope += best[i].time;
            ++one->slopes;
        }
    free(best);
    free(band);
    one->spent_s += options->emulate_s > 0
                        ? options->emulate_s * ((double)cells + count * (options->ratio - 1))
                        : one->cost.outside_s + one->cost.band_s - before_s;
}

void look_at(const domain *one, const front_options *options, outcome *found) {
    /* What is far behind the front does not change any more. */
    const double done = (options->steps - 1) * options->speed - kBand;
    for (int y = 1; y <= one->cells; ++y)
        for (int x = 1; x <= one->cells; ++x) {
            const double right = exact(one->x + x - 1, one->y + y - 1);
            const double time = one->arrival[(size_t)y * (size_t)(one->cells + 2) + (size_t)x];
            unsigned long bits;
            memcpy(&bits, &time, sizeof bits);
            found->sum ^= bits * (unsigned long)(2 * (one->y + y) * 65536 + 2 * (one->x + x) + 1);
            if (right > done)
                continue;
            if (isinf(time)) {
                ++found->missed;
                continue;
            }
            ++found->arrived;
            const double error = fabs(time - right);
            found->worst = error > found->worst ? error : found->worst;
        }
}
