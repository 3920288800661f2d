/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The source is a little away from the corner of the mesh, so that no cell is on it. */
static const double kSource = -2;
static const double kExact = 8; /* so near to the source cells know their time from the beginning */
static const double kBand = 4;  /* half of the width of what is updated */
enum { kPoints = 12 };          /* on each edge */

/* The scheme is of first order; measured: below 0.6 at 2048 x 2048 cells. */
const double front_tolerance = 1;

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
    *one = (domain){options->cells, column * options->cells, row * options->cells, 0};
    for (int y = 0; y < options->cells + 2; ++y)
        for (int x = 0; x < options->cells + 2; ++x) {
            const double time = exact(one->x + x - 1, one->y + y - 1);
            const int inside = x > 0 && y > 0 && x <= options->cells && y <= options->cells;
            *cell(one, x, y) = inside && time < kExact ? time : INFINITY;
        }
    return one;
}

/* The least over points on the edge from a to b of the time there plus the distance: two neighbours
 * of a cell, one beside it, one diagonal (or two beside it). */
static double over_edge(double ta, double ax, double ay, double tb, double bx, double by) {
    if (isinf(ta) || isinf(tb)) {
        const double from_a = ta + hypot(ax, ay), from_b = tb + hypot(bx, by);
        return from_a < from_b ? from_a : from_b;
    }
    double least = INFINITY;
    for (int i = 0; i <= kPoints; ++i) {
        const double s = (double)i / kPoints;
        const double x = ax + s * (bx - ax), y = ay + s * (by - ay);
        const double time = ta + s * (tb - ta) + sqrt(x * x + y * y);
        least = time < least ? time : least;
    }
    return least;
}

static double updated(const double *at, int stride) {
    static const int kRing[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                    {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    double least = *at;
    for (int i = 0; i < 8; ++i) {
        const int *a = kRing[i], *b = kRing[(i + 1) % 8];
        const double time =
            over_edge(at[a[1] * stride + a[0]], a[0], a[1], at[b[1] * stride + b[0]], b[0], b[1]);
        least = time < least ? time : least;
    }
    return least;
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

void advance(domain *one, const front_options *options, double now) {
    const int cells = one->cells, stride = cells + 2;
    /* Memory only: no more threads than this one. */
    int *band = malloc((size_t)cells * (size_t)cells * sizeof *band);
    int count = 0;
    for (int y = 1; band && y <= cells; ++y)
        for (int x = 1; x <= cells; ++x)
            if (in_band(cell(one, x, y), stride, now))
                band[count++] = y * stride + x;
    double *times = malloc((size_t)(count + 1) * sizeof *times);
    if (!band || !times)
        abort();
    const double *const old = one->arrival;
    if (options->loops == loops_parallel) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; ++i)
            times[i] = updated(old + band[i], stride);
    } else if (options->loops == loops_taskloop) {
#pragma omp taskloop grainsize(32) shared(times, band)
        for (size_t i = 0; i < (size_t)count; ++i)
            times[i] = updated(old + band[i], stride);
    } else {
        for (int i = 0; i < count; ++i)
            times[i] = updated(old + band[i], stride);
    }
    for (int i = 0; i < count; ++i)
        one->arrival[band[i]] = times[i];
    free(times);
    free(band);
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
