/* SPDX-License-Identifier: Apache-2.0
 *
 * The version without tasks: a rank exchanges one message after the other. In round r everybody
 * sends to the rank that is r further on, and receives from the one r before it, so nobody waits
 * for ever.
 */
#include "ifsker.h"

/* Of all our fields, what the rank has in its strip. */
static MPI_Datatype part_of_fields(const struct state *state, int rank) {
    MPI_Datatype points, one, all;
    MPI_Type_contiguous(state->shape.latitudes, MPI_DOUBLE, &points);
    MPI_Type_contiguous(longitudes_of(state, rank), points, &one);
    MPI_Type_create_hvector(fields_of(state, state->rank), 1,
                            (MPI_Aint)(state->distance * sizeof(double)), one, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&points);
    MPI_Type_free(&one);
    return all;
}

/* Of our strip, all fields that the rank has. */
static MPI_Datatype fields_of_strip(const struct state *state, int rank) {
    MPI_Datatype points, one, all;
    MPI_Type_contiguous(state->shape.latitudes, MPI_DOUBLE, &points);
    MPI_Type_contiguous(longitudes_of(state, state->rank), points, &one);
    MPI_Type_contiguous(fields_of(state, rank), one, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&points);
    MPI_Type_free(&one);
    return all;
}

static void transpose(const struct state *state, bool there) {
    for (int round = 0; round < state->ranks; ++round) {
        const int to = (state->rank + round) % state->ranks;
        const int from = (state->rank + state->ranks - round) % state->ranks;
        const int owner = there ? to : from, other = there ? from : to;
        MPI_Datatype strip = fields_of_strip(state, owner), part = part_of_fields(state, other);
        double *in = in_strip(state, first_field(state, owner), 0);
        double *out = in_field(state, 0, first_longitude(state, other));
        MPI_Sendrecv(there ? in : out, 1, there ? strip : part, to, 0, there ? out : in, 1,
                     there ? part : strip, from, 0, state->comm, MPI_STATUS_IGNORE);
        MPI_Type_free(&strip);
        MPI_Type_free(&part);
    }
}

void make_steps_pure(const struct state *state, struct phases phases, int steps, int pieces,
                     enum way way) {
    (void)pieces, (void)way;
    for (int step = 0; step < steps; ++step) {
        if (phases.physics)
            run_physics(state, 0, longitudes_of(state, state->rank));
        transpose(state, true);
        for (int own = 0; phases.fourier && own < fields_of(state, state->rank); ++own)
            transform(state, own, phases.filter);
        transpose(state, false);
    }
}
