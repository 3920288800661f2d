/* SPDX-License-Identifier: Apache-2.0
 *
 * What is computed in a step. Both phases conserve the sum of all values but for rounding, and the
 * sum of their squares never grows: check.c relies on this.
 */
#include "ifsker.h"

#include <math.h>

/* ---- physics ---- */

enum { chunk = 64 }; /* points whose fluxes are kept at once */

/* From the upper field to the lower one: at most a quarter of the difference. So a new value is a
 * mean of old ones, with weights that are symmetric and of sum 1. */
static double flux(double lower, double upper) {
    const double difference = upper - lower;
    return 0.25 * difference * exp(-1e-3 * difference * difference);
}

static void mix_fields(const struct state *state, size_t first, size_t count) {
    double below[chunk] = {0};
    for (int field = 0; field < state->shape.fields; ++field) {
        double *here = in_strip(state, field, 0) + first;
        const double *upper = here + strip_size(state, state->rank);
        const bool top = field + 1 == state->shape.fields;
        for (size_t i = 0; i < count; ++i) {
            const double above = top ? 0.0 : flux(here[i], upper[i]);
            here[i] += above - below[i];
            below[i] = above;
        }
    }
}

void run_physics(const struct state *state, int first, int end) {
    const size_t height = (size_t)state->shape.latitudes;
    const size_t stop = (size_t)end * height;
    for (size_t i = (size_t)first * height; i < stop; i += chunk)
        mix_fields(state, i, stop - i < chunk ? stop - i : chunk);
}

/* ---- Fourier transforms ---- */

/* Winds that turn each circle of latitude, and diffusion: what a step makes of a wave. */
double complex wave_factor(const struct shape *shape, int latitude, int wave) {
    const double north = (latitude + 0.5) / shape->latitudes;
    return exp(-1e-5 * wave * wave) * cexp(-I * 0.01 * (1.0 + north) * wave);
}

static size_t waves_of(const struct shape *shape) {
    return (size_t)shape->longitudes / 2 + 1;
}

/* A field's circles of latitude in one plan. FFTW_ESTIMATE: the plan follows from the shape alone,
 * so all ranks and all runs have the same. */
void make_plans(struct state *state) {
    const struct shape *shape = &state->shape;
    const int n[] = {shape->longitudes}, height = shape->latitudes;
    const int waves = (int)waves_of(shape);
    state->there = need(fftw_plan_many_dft_r2c(1, n, height, state->whole, NULL, height, 1,
                                               state->waves, NULL, 1, waves, FFTW_ESTIMATE),
                        "a plan of FFTW");
    state->back = need(fftw_plan_many_dft_c2r(1, n, height, state->waves, NULL, 1, waves,
                                              state->whole, NULL, height, 1, FFTW_ESTIMATE),
                       "a plan of FFTW");
    for (int latitude = 0; latitude < height; ++latitude)
        for (int wave = 0; wave < waves; ++wave)
            state->filter[latitude * waves + wave] =
                wave_factor(shape, latitude, wave) / shape->longitudes;
}

void transform(const struct state *state, int own, bool filter) {
    const size_t count = (size_t)state->shape.latitudes * waves_of(&state->shape);
    fftw_complex *waves = state->waves + (size_t)own * state->waves_distance;
    double *values = in_field(state, own, 0);
    fftw_execute_dft_r2c(state->there, values, waves);
    if (filter)
        for (size_t i = 0; i < count; ++i)
            waves[i] *= state->filter[i];
    else
        for (size_t i = 0; i < count; ++i)
            waves[i] /= state->shape.longitudes;
    fftw_execute_dft_c2r(state->back, waves, values);
}
