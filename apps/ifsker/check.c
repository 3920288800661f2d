/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold, whatever the version. Bits are compared where nothing rounds differently: the way
 * there and back, and the result of a rank that is alone.
 *
 * Where something rounds, the limit is that of transforms: the error of one is, in the 2-norm, at
 * most some epsilon * log2(n) of the norm of what it transforms. The filter's factors are at most 1
 * and physics takes means with symmetric weights, so the norm never grows, and errors of steps only
 * add up. A sum over N values differs by at most sqrt(N) times the norm of the error.
 */
#include "ifsker.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct start {
    double *strip;
    double sum, norm; /* of all values */
};

static size_t values_of(const struct state *state) {
    return strip_size(state, state->rank) * (size_t)state->shape.fields;
}

/* In long double: what its own additions round away is nothing beside the limit. */
static double sum_of(const struct state *state) {
    long double sum = 0.0;
    for (size_t i = 0; i < values_of(state); ++i)
        sum += state->strip[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, state->comm);
    return (double)sum;
}

static double norm_of(const struct state *state, const double *minus) {
    double squares = 0.0;
    for (size_t i = 0; i < values_of(state); ++i) {
        const double value = state->strip[i] - (minus ? minus[i] : 0.0);
        squares += value * value;
    }
    MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, state->comm);
    return sqrt(squares);
}

/* The norm of the error after so many steps. */
static double error_limit(const struct state *state, int steps, double norm) {
    return DBL_EPSILON * (1 + steps) * 4.0 * (2.0 + log2(state->shape.longitudes)) * norm;
}

struct start *remember_start(const struct state *state) {
    struct start *start = need(malloc(sizeof *start), "the start");
    start->strip = need(malloc(values_of(state) * sizeof(double)), "the start");
    memcpy(start->strip, state->strip, values_of(state) * sizeof(double));
    start->sum = sum_of(state);
    start->norm = norm_of(state, NULL);
    return start;
}

static void forget(struct start *start) {
    free(start->strip);
    free(start);
}

/* ---- there and back ---- */

static bool everywhere(const struct state *state, bool here) {
    int all = here;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, state->comm);
    return all;
}

bool comes_back(const struct state *state, const struct options *options, enum way way) {
    enum { rounds = 3 }; /* what is sent early must not be taken for the next round's */
    const size_t bytes = values_of(state) * sizeof(double);
    struct start *start = remember_start(state);
    options->version->make_steps(state, (struct phases){0}, rounds, options->pieces, way);
    const bool same = everywhere(state, memcmp(state->strip, start->strip, bytes) == 0);
    options->version->make_steps(state, (struct phases){.fourier = true}, rounds, options->pieces,
                                 way);
    const double error = norm_of(state, start->strip);
    const double limit = error_limit(state, rounds, start->norm);
    memcpy(state->strip, start->strip, bytes);
    forget(start);
    if (!same)
        say(state->rank, "transposed there and back, some values are others");
    if (!(error <= limit))
        say(state->rank,
            "transformed there and back, the values differ by %g; at most %g is rounding", error,
            limit);
    return same && error <= limit;
}

/* ---- after all steps ---- */

/* Every rank makes the steps of all points and fields alone, and compares its strip. */
static bool same_as_alone(const struct state *state, int steps) {
    struct state alone;
    make_state(&alone, &state->shape, MPI_COMM_SELF);
    make_steps_pure(&alone, (struct phases){true, true, true}, steps, 1, blocking);
    bool same = true;
    const size_t bytes = strip_size(state, state->rank) * sizeof(double);
    for (int field = 0; field < state->shape.fields; ++field)
        same = same &&
               memcmp(in_strip(state, field, 0),
                      in_strip(&alone, field, first_longitude(state, state->rank)), bytes) == 0;
    free_state(&alone);
    same = everywhere(state, same);
    if (!same)
        say(state->rank, "the values differ from those of a rank that is alone");
    return same;
}

/* The strip becomes its error. */
static bool is_exact(const struct state *state, int steps, double limit) {
    const int first = first_longitude(state, state->rank);
    for (int place = 0; place < longitudes_of(state, state->rank); ++place)
        for (int latitude = 0; latitude < state->shape.latitudes; ++latitude)
            in_strip(state, 0, place)[latitude] -=
                exact_value(&state->shape, first + place, latitude, steps);
    const double error = norm_of(state, NULL);
    if (!(error <= limit))
        say(state->rank, "the values differ from the exact solution by %g, at most %g is rounding",
            error, limit);
    return error <= limit;
}

bool is_right(const struct state *state, struct start *start, const struct options *options) {
    const double limit = error_limit(state, options->steps, start->norm);
    const double values =
        (double)state->shape.longitudes * state->shape.latitudes * state->shape.fields;
    const double off = fabs(sum_of(state) - start->sum);
    bool right = off <= sqrt(values) * limit;
    if (!right)
        say(state->rank, "the sum of all values differs by %g, at most %g is rounding", off,
            sqrt(values) * limit);
    right &= same_as_alone(state, options->steps);
    if (state->shape.fields == 1)
        right &= is_exact(state, options->steps, limit);
    forget(start);
    return right;
}
