/* SPDX-License-Identifier: Apache-2.0
 * A wave front passes over a mesh: work that is heavy where the front is, and the front moves.
 * Written from the description in Bak et al., Integrating OpenMP into the Charm++ Programming Model
 * (2017), section 5: many domains for each core; cells in a band around the front cost far more
 * than others, most of it in loops that compute distances between points; domains exchange their
 * borders in each step, by calls that block. The result is checked against the time of arrival that
 * is known.
 *
 * Each cell has a time of arrival, unknown at first. A front of speed 1 arrives at a point at the
 * least time at which it is at a point nearby, plus the distance (Huygens). So a cell's time is the
 * least over points on the edges between its neighbours; times on an edge are interpolated (the
 * semi-Lagrangian scheme of Tsitsiklis, 1995). Only cells in the band are updated.
 *
 * Domains are objects of sennit_balance.h. Each is one task in each step. */
#include "front.h"

#include "sennit_balance.h"

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int kDirections[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

static int neighbour(const front_options *options, int domain, int direction) {
    const int x = domain % options->side + kDirections[direction][0];
    const int y = domain / options->side + kDirections[direction][1];
    return x < 0 || y < 0 || x >= options->side || y >= options->side ? -1 : y * options->side + x;
}

/* A border: the cells next to the neighbour of that direction (inside), or beyond (in the halo). */
static double *border_cell(domain *one, int direction, int inside, int i) {
    const int last = one->cells + 1;
    switch (direction) {
    case 0:
        return cell(one, inside ? 1 : 0, i);
    case 1:
        return cell(one, inside ? last - 1 : last, i);
    case 2:
        return cell(one, i, inside ? 1 : 0);
    default:
        return cell(one, i, inside ? last - 1 : last);
    }
}

static void fail(const char *what, int code) {
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "front: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void receive_borders(sennit_objects *set, const front_options *options, int object,
                            double *buffer) {
    domain *one = sennit_object_data(set, object);
    for (int direction = 0; direction < 4; ++direction) {
        const int other = neighbour(options, object, direction);
        if (other < 0)
            continue;
        fail("sennit_object_recv", sennit_object_recv(set, object, other, direction ^ 1, buffer,
                                                      (size_t)one->cells * sizeof *buffer, NULL));
        for (int i = 1; i <= one->cells; ++i)
            *border_cell(one, direction, 0, i) = buffer[i - 1];
    }
}

static void send_borders(sennit_objects *set, const front_options *options, int object,
                         double *buffer) {
    domain *one = sennit_object_data(set, object);
    for (int direction = 0; direction < 4; ++direction) {
        const int other = neighbour(options, object, direction);
        if (other < 0)
            continue;
        for (int i = 1; i <= one->cells; ++i)
            buffer[i - 1] = *border_cell(one, direction, 1, i);
        fail("sennit_object_send", sennit_object_send(set, object, other, direction, buffer,
                                                      (size_t)one->cells * sizeof *buffer));
    }
}

/* The halo's corners: what is diagonal is not sent. They are taken for unknown, and nothing depends
 * on them but accuracy. */
static void step_of(sennit_objects *set, const front_options *options, int object, int step) {
    domain *one = sennit_object_data(set, object);
    double *buffer = malloc((size_t)one->cells * sizeof *buffer);
    if (!buffer) {
        fprintf(stderr, "front: no memory for a border\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (step > 0)
        receive_borders(set, options, object, buffer);
    fail("sennit_object_begin", sennit_object_begin(set, object));
    advance(one, options, step * options->speed);
    fail("sennit_object_end", sennit_object_end(set, object));
    send_borders(set, options, object, buffer);
    free(buffer);
}

static sennit_objects *make_domains(const front_options *options, int rank, int ranks) {
    sennit_objects *set = NULL;
    const int count = options->side * options->side;
    fail("sennit_objects_create",
         sennit_objects_create(MPI_COMM_WORLD, count, SENNIT_OBJECT_MEMORY, &set));
    if (options->strategy)
        fail("sennit_balance_strategy", sennit_balance_strategy(set, options->strategy));
    fail("sennit_objects_speed", sennit_objects_speed(set, omp_get_max_threads()));
    /* Runs of rows, as even as they can be. */
    const int first = (int)((long)rank * count / ranks),
              end = (int)((long)(rank + 1) * count / ranks);
    for (int object = first; object < end; ++object) {
        domain *one = make_domain(options, object % options->side, object / options->side);
        if (!one) {
            fprintf(stderr, "front: no memory for a domain of %d x %d cells\n", options->cells,
                    options->cells);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        fail("sennit_objects_add_memory",
             sennit_objects_add_memory(set, object, one, domain_bytes(options->cells)));
        fail("sennit_objects_position", sennit_objects_position(set, object, object % options->side,
                                                                object / options->side, 0));
    }
    fail("sennit_objects_commit", sennit_objects_commit(set));
    return set;
}

typedef struct {
    double balance_s;
    double imbalance; /* sum over the calls */
    double node_imbalance;
    long moved;
    int calls;
} totals;

static void run_steps(sennit_objects *set, const front_options *options, totals *sums) {
    for (int step = 0; step < options->steps; ++step) {
        const int *local;
        const int count = sennit_objects_local(set, &local);
        for (int i = 0; i < count; ++i) {
            const int object = local[i];
#pragma omp task firstprivate(object)
            step_of(set, options, object, step);
        }
#pragma omp taskwait
        if (options->period > 0 && (step + 1) % options->period == 0 && step + 1 < options->steps) {
            sennit_balance_info info;
            fail("sennit_balance", sennit_balance(set, &info));
            sums->balance_s += info.seconds;
            sums->imbalance += info.imbalance;
            sums->node_imbalance += info.node_imbalance;
            sums->moved += info.moved;
            ++sums->calls;
        }
    }
}

int main(int argc, char **argv) {
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    front_options options;
    const char *fault = read_options(argc, argv, &options);
    if (!fault && provided < MPI_THREAD_MULTIPLE)
        fault = "needs MPI_THREAD_MULTIPLE";
    if (!fault && options.side * options.side < ranks)
        fault = "there are more ranks than domains";
    if (fault) {
        if (rank == 0)
            fprintf(stderr, "front: %s\n%s", fault, front_usage);
        MPI_Finalize();
        return 2;
    }
    sennit_objects *set = make_domains(&options, rank, ranks);
    totals sums = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
#pragma omp parallel
#pragma omp single
    run_steps(set, &options, &sums);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - start;

    outcome mine = {0}, all;
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int i = 0; i < count; ++i)
        look_at(sennit_object_data(set, local[i]), &options, &mine);
    MPI_Allreduce(&mine.worst, &all.worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.arrived, &all.arrived, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.missed, &all.missed, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    /* Bit by bit the same wherever the domains were. */
    MPI_Allreduce(&mine.sum, &all.sum, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
    const int right = all.missed == 0 && all.worst <= front_tolerance;
    if (rank == 0) {
        const int calls = sums.calls > 0 ? sums.calls : 1;
        printf("seconds %.4f balance %.4f imbalance %.4f node_imbalance %.4f moved %ld calls %d\n",
               seconds, sums.balance_s, sums.imbalance / calls, sums.node_imbalance / calls,
               sums.moved, sums.calls);
        printf("arrived %ld missed %ld worst %.4f checksum %016lx: %s\n", all.arrived, all.missed,
               all.worst, all.sum, right ? "right" : "WRONG");
    }
    sennit_objects_free(&set);
    MPI_Finalize();
    return right ? 0 : 1;
}
