/* SPDX-License-Identifier: Apache-2.0
 *
 * The state at its start, and what can be said of it later. Longitudes and fields are dealt out in
 * order, as evenly as it gets.
 */
#include "ifsker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    most_waves = 5,
    line = 64 /* bytes; the transforms of all fields begin at such an address */
};
static const double pi = 3.14159265358979323846;

static size_t whole_lines(size_t bytes) {
    return (bytes + line - 1) / line * line;
}

static void *aligned(size_t bytes, const char *what) {
    const size_t size = whole_lines(bytes ? bytes : 1);
    return memset(need(aligned_alloc(line, size), what), 0, size);
}

/* ---- values ---- */

/* Less than half of the longitudes: a wave has its sine and its cosine then. */
static int waves_at_start(const struct shape *shape) {
    const int most = (shape->longitudes - 1) / 2;
    return most < most_waves ? most : most_waves;
}

/* A wave of the start at a latitude, after so many steps, by filter alone. */
struct wave {
    double height, phase;
};
struct circle {
    double mean;
    struct wave waves[most_waves + 1]; /* from 1 on */
};

static struct circle circle_at(const struct shape *shape, int latitude, int steps) {
    const double north = (latitude + 0.5) / shape->latitudes;
    struct circle made = {.mean = 250.0 + 40.0 * north};
    for (int wave = 1; wave <= waves_at_start(shape); ++wave) {
        const double complex factor = wave_factor(shape, latitude, wave);
        made.waves[wave] = (struct wave){9.0 / wave * (1.0 + north) * pow(cabs(factor), steps),
                                         wave + carg(factor) * steps};
    }
    return made;
}

static double value(const struct shape *shape, const struct circle *circle, int field,
                    int longitude) {
    const double east = 2.0 * pi * longitude / shape->longitudes;
    double sum = circle->mean + field;
    for (int wave = 1; wave <= waves_at_start(shape); ++wave)
        sum +=
            circle->waves[wave].height * cos(east * wave + circle->waves[wave].phase + 0.3 * field);
    return sum;
}

double exact_value(const struct shape *shape, int longitude, int latitude, int steps) {
    const struct circle circle = circle_at(shape, latitude, steps);
    return value(shape, &circle, 0, longitude);
}

void make_state(struct state *state, const struct shape *shape, MPI_Comm comm) {
    *state = (struct state){.shape = *shape, .comm = comm};
    MPI_Comm_rank(comm, &state->rank);
    MPI_Comm_size(comm, &state->ranks);
    const size_t points = (size_t)shape->longitudes * (size_t)shape->latitudes;
    const size_t own = (size_t)fields_of(state, state->rank);
    const size_t waves = (size_t)shape->latitudes * ((size_t)shape->longitudes / 2 + 1);
    state->distance = whole_lines(points * sizeof(double)) / sizeof(double);
    state->strip = aligned(strip_size(state, state->rank) * (size_t)shape->fields * sizeof(double),
                           "the strip");
    state->whole = aligned(own * state->distance * sizeof(double), "the fields");
    state->waves_distance = whole_lines(waves * sizeof(fftw_complex)) / sizeof(fftw_complex);
    state->waves = aligned(own * state->waves_distance * sizeof(fftw_complex), "the waves");
    state->filter = aligned(waves * sizeof(fftw_complex), "the filter");
    make_plans(state);
    const int first = first_longitude(state, state->rank);
    for (int latitude = 0; latitude < shape->latitudes; ++latitude) {
        const struct circle circle = circle_at(shape, latitude, 0);
        for (int field = 0; field < shape->fields; ++field)
            for (int place = 0; place < longitudes_of(state, state->rank); ++place)
                in_strip(state, field, place)[latitude] =
                    value(shape, &circle, field, first + place);
    }
}

void free_state(struct state *state) {
    fftw_destroy_plan(state->there);
    fftw_destroy_plan(state->back);
    free(state->strip);
    free(state->whole);
    free(state->waves);
    free(state->filter);
}

uint64_t checksum(const struct state *state) {
    const size_t size = strip_size(state, state->rank);
    const size_t points = (size_t)state->shape.longitudes * (size_t)state->shape.latitudes;
    const size_t first =
        (size_t)first_longitude(state, state->rank) * (size_t)state->shape.latitudes;
    uint64_t sum = 0;
    for (int field = 0; field < state->shape.fields; ++field)
        for (size_t i = 0; i < size; ++i)
            sum += value_sum(in_strip(state, field, 0)[i], (uint64_t)field * points + first + i);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, state->comm);
    return sum;
}
