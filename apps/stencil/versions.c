/* SPDX-License-Identifier: Apache-2.0
 *
 * The versions. In plain OpenMP the matrix is one strip, and a loop over its rows is a step.
 *
 * In the others strips are objects of sennit_balance.h. As chares of a PE, those of a rank are
 * dealt to its threads, in the order of rows. Before each step but the first a strip waits for the
 * nearest rows of its neighbours. Its loop is its thread's alone, or it is a taskloop: threads that
 * are done with their strips take rows of it. How many are offered to them is left to the runtime.
 */
#include "share.h"
#include "stencil.h"

#include "sennit_balance.h"

#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

void run_plain(const struct options *options, struct outcome *found) {
    struct strip *matrix = new_strip(0, options->rows, options->columns);
    /* The thread that begins a row computes it, too: its memory is near then. */
#pragma omp parallel for schedule(static)
    for (int row = 0; row < options->rows; ++row)
        begin_row(matrix, options, row);
    begin_row(matrix, options, -1);
    begin_row(matrix, options, options->rows);
    const double start = MPI_Wtime();
    for (int step = 0; step < options->steps; ++step) {
#pragma omp parallel for schedule(static)
        for (int row = 0; row < options->rows; ++row)
            relax_row(matrix, row);
        matrix->now = 1 - matrix->now;
    }
    found->seconds = MPI_Wtime() - start;
    look_at(matrix, options, found);
    free(matrix);
}

/* ---- objects ---- */

static void succeed(const char *what, int code) {
    if (code == MPI_SUCCESS)
        return;
    say(0, "%s failed", what);
    MPI_Abort(MPI_COMM_WORLD, wrong_result);
}

/* The neighbours are the strips above and below; `row`: -1 or `rows` is beyond ours. */
static void receive_row(sennit_objects *set, int object, int other, struct strip *strip, int row) {
    const size_t bytes = (size_t)strip->columns * sizeof(double);
    succeed(
        "sennit_object_recv",
        sennit_object_recv(set, object, other, 0, row_of(strip, strip->now, row) + 1, bytes, NULL));
}

static void send_row(sennit_objects *set, int object, int other, struct strip *strip, int row) {
    const size_t bytes = (size_t)strip->columns * sizeof(double);
    succeed("sennit_object_send",
            sennit_object_send(set, object, other, 0, row_of(strip, strip->now, row) + 1, bytes));
}

static void relax(struct strip *strip, bool shared) {
    const size_t rows = (size_t)strip->rows; /* for clang's taskloop */
    if (shared) {
#pragma omp taskloop
        for (size_t row = 0; row < rows; ++row)
            relax_row(strip, (int)row);
    } else {
        for (size_t row = 0; row < rows; ++row)
            relax_row(strip, (int)row);
    }
}

static void make_step(sennit_objects *set, const struct options *options, int object, int step,
                      bool shared) {
    struct strip *strip = sennit_object_data(set, object);
    const int above = object - 1, below = object + 1;
    if (step > 0 && above >= 0)
        receive_row(set, object, above, strip, -1);
    if (step > 0 && below < options->strips)
        receive_row(set, object, below, strip, strip->rows);
    succeed("sennit_object_begin", sennit_object_begin(set, object));
    relax(strip, shared);
    succeed("sennit_object_end", sennit_object_end(set, object));
    strip->now = 1 - strip->now;
    const bool last = step + 1 == options->steps;
    if (!last && above >= 0)
        send_row(set, object, above, strip, 0);
    if (!last && below < options->strips)
        send_row(set, object, below, strip, strip->rows - 1);
}

static sennit_objects *make_strips(const struct options *options) {
    sennit_objects *set = NULL;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    succeed("sennit_objects_create",
            sennit_objects_create(MPI_COMM_WORLD, options->strips, SENNIT_OBJECT_MEMORY, &set));
    succeed("sennit_objects_speed", sennit_objects_speed(set, omp_get_max_threads()));
    const int end = first_of(options->strips, ranks, rank + 1);
    for (int object = first_of(options->strips, ranks, rank); object < end; ++object) {
        const int first = first_of(options->rows, options->strips, object);
        const int rows = first_of(options->rows, options->strips, object + 1) - first;
        struct strip *strip = new_strip(first, rows, options->columns);
        succeed("sennit_objects_add_memory",
                sennit_objects_add_memory(set, object, strip, strip_bytes(rows, options->columns)));
        succeed("sennit_objects_position", sennit_objects_position(set, object, 0, object, 0));
    }
    succeed("sennit_objects_commit", sennit_objects_commit(set));
    const int *local;
    const int count = sennit_objects_local(set, &local);
    /* By the thread that will compute it: its memory is near then. */
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) {
        struct strip *strip = sennit_object_data(set, local[i]);
        for (int row = -1; row <= strip->rows; ++row)
            begin_row(strip, options, row);
    }
    return set;
}

static void run(const struct options *options, struct outcome *found, bool shared) {
    sennit_objects *set = make_strips(options);
    const int *local;
    int count = sennit_objects_local(set, &local);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int step = 0; step < options->steps; ++step) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; ++i)
            make_step(set, options, local[i], step, shared);
        if (options->period && (step + 1) % options->period == 0 && step + 1 < options->steps) {
            sennit_balance_info info;
            succeed("sennit_balance", sennit_balance(set, &info));
            found->moved += (long)info.moved;
            count = sennit_objects_local(set, &local);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    found->seconds = MPI_Wtime() - start;
    for (int i = 0; i < count; ++i)
        look_at(sennit_object_data(set, local[i]), options, found);
    succeed("sennit_objects_free", sennit_objects_free(&set));
}

void run_objects(const struct options *options, struct outcome *found) {
    run(options, found, false);
}

void run_shared(const struct options *options, struct outcome *found) {
    run(options, found, true);
}
