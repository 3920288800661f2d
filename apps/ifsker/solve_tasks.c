/* SPDX-License-Identifier: Apache-2.0
 *
 * The versions with tasks: one for each piece of the strip in physics, one for each field in the
 * transforms, and one for each message, which is a piece of a field. So a message can travel while
 * other pieces are computed.
 *
 * Dependences are on tokens: a piece of our strip has one for each field, and each of our fields
 * has one for each piece of each rank's strip. A message's tag is the number of its field and
 * piece. That of the next step cannot overtake it: it is sent when the answer has come.
 */
#include "ifsker.h"
#include "tampi.h"

#include <stdlib.h>
#include <string.h>

struct tasks {
    const struct state *state;
    enum way way;
    int pieces;
    char *strip; /* [pieces][fields] */
    char *whole; /* [own fields][ranks][pieces] */
};

struct message {
    double *values;
    int count, peer, tag;
};

/* Piece `k` of the rank's strip: its first longitude, from that of the strip on. */
static int first_in_piece(const struct tasks *tasks, int rank, int k) {
    return first_of(longitudes_of(tasks->state, rank), tasks->pieces, k);
}

static int count_in_piece(const struct tasks *tasks, int rank, int k) {
    return (first_in_piece(tasks, rank, k + 1) - first_in_piece(tasks, rank, k)) *
           tasks->state->shape.latitudes;
}

static int tag_of(const struct tasks *tasks, int field, int k) {
    return field * tasks->pieces + k;
}

static char *strip_token(const struct tasks *tasks, int field, int k) {
    return tasks->strip + (size_t)k * (size_t)tasks->state->shape.fields + (size_t)field;
}

static char *whole_token(const struct tasks *tasks, int own, int rank, int k) {
    const size_t before = (size_t)own * (size_t)tasks->state->ranks + (size_t)rank;
    return tasks->whole + before * (size_t)tasks->pieces + (size_t)k;
}

/* ---- a task for each message ---- */

static void send(const struct tasks *tasks, struct message m) {
    MPI_Request request;
    if (tasks->way == blocking) {
        MPI_Send(m.values, m.count, MPI_DOUBLE, m.peer, m.tag, tasks->state->comm);
        return;
    }
    MPI_Isend(m.values, m.count, MPI_DOUBLE, m.peer, m.tag, tasks->state->comm, &request);
    TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

static void receive(const struct tasks *tasks, struct message m) {
    MPI_Request request;
    if (tasks->way == blocking) {
        MPI_Recv(m.values, m.count, MPI_DOUBLE, m.peer, m.tag, tasks->state->comm,
                 MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(m.values, m.count, MPI_DOUBLE, m.peer, m.tag, tasks->state->comm, &request);
    TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

static void send_in_task(const struct tasks *tasks, const char *token, struct message m) {
    (void)token; /* GCC 12 sees no use */
    if (m.count > 0)
#pragma omp task depend(in : token[0])
        send(tasks, m);
}

static void receive_in_task(const struct tasks *tasks, char *token, struct message m) {
    (void)token;
    if (m.count > 0)
#pragma omp task depend(out : token[0])
        receive(tasks, m);
}

/* What stays on this rank. */
static void copy_in_task(const char *in, char *out, const double *from, double *to, int count) {
    (void)in, (void)out;
    if (count > 0)
#pragma omp task depend(in : in[0]) depend(out : out[0])
        memcpy(to, from, (size_t)count * sizeof *to);
}

/* ---- a step ---- */

/* The same values at either end: in our strip for the field's rank, in our field for the strip's.
 */
static struct message strip_message(const struct tasks *tasks, int field, int owner, int k) {
    const struct state *state = tasks->state;
    double *values = in_strip(state, field, first_in_piece(tasks, state->rank, k));
    return (struct message){values, count_in_piece(tasks, state->rank, k), owner,
                            tag_of(tasks, field, k)};
}

static struct message field_message(const struct tasks *tasks, int own, int rank, int k) {
    const struct state *state = tasks->state;
    const int longitude = first_longitude(state, rank) + first_in_piece(tasks, rank, k);
    return (struct message){in_field(state, own, longitude), count_in_piece(tasks, rank, k), rank,
                            tag_of(tasks, first_field(state, state->rank) + own, k)};
}

/* All that begins or ends in a strip, for the fields of one rank after the other. */
static void move_strip(const struct tasks *tasks, bool there) {
    const struct state *state = tasks->state;
    for (int round = 1; round < state->ranks; ++round) {
        const int owner = (state->rank + round) % state->ranks;
        const int first = first_field(state, owner), end = first + fields_of(state, owner);
        for (int k = 0; k < tasks->pieces; ++k)
            for (int field = first; field < end; ++field) {
                const struct message message = strip_message(tasks, field, owner, k);
                char *token = strip_token(tasks, field, k);
                if (there)
                    send_in_task(tasks, token, message);
                else
                    receive_in_task(tasks, token, message);
            }
    }
}

/* The same of our fields, with what stays on this rank. */
static void move_fields(const struct tasks *tasks, bool there) {
    const struct state *state = tasks->state;
    for (int own = 0; own < fields_of(state, state->rank); ++own)
        for (int rank = 0; rank < state->ranks; ++rank)
            for (int k = 0; k < tasks->pieces; ++k) {
                const struct message message = field_message(tasks, own, rank, k);
                char *token = whole_token(tasks, own, rank, k);
                if (rank == state->rank) {
                    const int field = first_field(state, rank) + own;
                    double *strip = strip_message(tasks, field, rank, k).values;
                    char *other = strip_token(tasks, field, k);
                    if (there)
                        copy_in_task(other, token, strip, message.values, message.count);
                    else
                        copy_in_task(token, other, message.values, strip, message.count);
                } else if (there) {
                    receive_in_task(tasks, token, message);
                } else {
                    send_in_task(tasks, token, message);
                }
            }
}

static void physics_in_tasks(const struct tasks *tasks) {
    const struct state *state = tasks->state;
    const int fields = state->shape.fields;
    for (int k = 0; k < tasks->pieces; ++k) {
        const int first = first_in_piece(tasks, state->rank, k);
        const int end = first_in_piece(tasks, state->rank, k + 1);
        char *tokens = strip_token(tasks, 0, k);
        (void)tokens, (void)fields;
        if (first < end)
#pragma omp task depend(iterator(int f = 0 : fields), inout : tokens[f])
            run_physics(state, first, end);
    }
}

static void transform_in_tasks(const struct tasks *tasks, bool filter) {
    const struct state *state = tasks->state;
    const int parts = state->ranks * tasks->pieces;
    for (int own = 0; own < fields_of(state, state->rank); ++own) {
        char *tokens = whole_token(tasks, own, 0, 0);
        (void)tokens, (void)parts;
#pragma omp task depend(iterator(int i = 0 : parts), inout : tokens[i])
        transform(state, own, filter);
    }
}

void make_steps_tasks(const struct state *state, struct phases phases, int steps, int pieces,
                      enum way way) {
    struct tasks tasks = {.state = state, .way = way, .pieces = pieces};
    const size_t own = (size_t)fields_of(state, state->rank), k = (size_t)pieces;
    tasks.strip = need(malloc((size_t)state->shape.fields * k), "the strip's tokens");
    tasks.whole = need(malloc(own * (size_t)state->ranks * k + 1), "the fields' tokens");
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < steps; ++step) {
        if (phases.physics)
            physics_in_tasks(&tasks);
        move_strip(&tasks, true);
        move_fields(&tasks, true);
        if (phases.fourier)
            transform_in_tasks(&tasks, phases.filter);
        move_fields(&tasks, false);
        move_strip(&tasks, false);
    }
    free(tasks.strip);
    free(tasks.whole);
}
