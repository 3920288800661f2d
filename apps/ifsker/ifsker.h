/* SPDX-License-Identifier: Apache-2.0
 *
 * A mock-up of the weather code IFS. A time step has two phases: physics, for which a point needs
 * all fields, and Fourier transforms, for which a field needs whole circles of latitude. A rank has
 * a strip of longitudes of all fields in the first phase, and the whole of some fields in the
 * second. So data is transposed twice in a step.
 *
 * Invariant: a point is computed from the same numbers in the same order, whichever rank has it,
 * and a field is transformed as a whole. So all versions give the same bits, with any number of
 * ranks.
 */
#ifndef IFSKER_H
#define IFSKER_H

#include "program.h"
#include "share.h"

#include <complex.h> /* before fftw3.h: its numbers are C's then */
#include <fftw3.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shape {
    int longitudes, latitudes, fields;
};

/* What happens in a step. Without physics and filter, nothing should. */
struct phases {
    bool physics, fourier, filter;
};

struct state {
    struct shape shape;
    MPI_Comm comm;
    int rank, ranks;
    /* The strip: longitude by longitude, of each field. Its fields lie one behind the other. */
    double *strip;
    /* Our fields, longitude by longitude, `distance` numbers from one to the next. */
    double *whole;
    size_t distance;
    fftw_complex *waves; /* of our fields: [latitude][wave] */
    size_t waves_distance;
    fftw_complex *filter; /* [latitude][wave] */
    fftw_plan there, back;
};

/* How a task waits for its message. */
enum way { blocking, bound };

struct options {
    const struct version *version;
    struct shape shape;
    int steps, pieces;
    struct arguments arguments;
};

typedef void stepper(const struct state *state, struct phases phases, int steps, int pieces,
                     enum way way);
struct version {
    struct label label;
    bool task_multiple; /* asks for MPI_TASK_MULTIPLE */
    enum way way;
    stepper *make_steps;
};

/* ---- options.c ---- */
void read_options(int argc, char **argv, struct options *options);
void print_usage(void);
const struct version *find_version(const char *name);

/* ---- state.c ---- */
static inline int first_longitude(const struct state *state, int rank) {
    return first_of(state->shape.longitudes, state->ranks, rank);
}
static inline int longitudes_of(const struct state *state, int rank) {
    return first_longitude(state, rank + 1) - first_longitude(state, rank);
}
static inline int first_field(const struct state *state, int rank) {
    return first_of(state->shape.fields, state->ranks, rank);
}
static inline int fields_of(const struct state *state, int rank) {
    return first_field(state, rank + 1) - first_field(state, rank);
}
static inline size_t strip_size(const struct state *state, int rank) {
    return (size_t)longitudes_of(state, rank) * (size_t)state->shape.latitudes;
}
/* Where a field's values begin in our strip; `place`: a longitude of it. */
static inline double *in_strip(const struct state *state, int field, int place) {
    return state->strip + (size_t)field * strip_size(state, state->rank) +
           (size_t)place * (size_t)state->shape.latitudes;
}
/* Where those of a longitude begin in a field of ours; `own`: 0 is our first. */
static inline double *in_field(const struct state *state, int own, int longitude) {
    return state->whole + (size_t)own * state->distance +
           (size_t)longitude * (size_t)state->shape.latitudes;
}
/* The start: each field has a mean and a few waves along each circle. */
void make_state(struct state *state, const struct shape *shape, MPI_Comm comm);
void free_state(struct state *state);
uint64_t checksum(const struct state *state);
/* Of a state with one field after so many steps, which physics leaves alone. */
double exact_value(const struct shape *shape, int longitude, int latitude, int steps);

/* ---- phases.c ---- */
/* All fields at longitudes [first, end) of the strip. */
void run_physics(const struct state *state, int first, int end);
void make_plans(struct state *state);
/* A field of ours: there, each wave turned and damped, and back. */
void transform(const struct state *state, int own, bool filter);
double complex wave_factor(const struct shape *shape, int latitude, int wave);

/* ---- solve_mpi.c, solve_tasks.c ---- */
stepper make_steps_pure, make_steps_tasks;

/* ---- check.c ---- */
struct start;
/* The way there and back must give the same bits, and with transforms the same but for rounding.
 * Says what differs. Ends as it began. */
bool comes_back(const struct state *state, const struct options *options, enum way way);
struct start *remember_start(const struct state *state);
/* Compares what was made of the start: with a rank that is alone, with what is conserved, and with
 * the exact solution if there is one field. Frees the start. */
bool is_right(const struct state *state, struct start *start, const struct options *options);

#endif
