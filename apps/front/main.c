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
 * semi-Lagrangian scheme of Tsitsiklis, 1995). Only cells in the band are updated: by three loops
 * (domain.c), of which the threads of a rank share the pieces. All else of a domain is serial.
 *
 * Domains are objects of sennit_balance.h. Each is a task in each step, or each thread has its own.
 * The loops are `parallel for`, as in the paper: regions in a region. Under `sennit run --split
 * inner` whoever is idle has a part of one; otherwise it has one thread. Taskloops share a loop
 * with whoever is idle, without that. Or no region is around (`--domains serial`): one domain
 * follows the other, and all threads are in each `parallel for`. */
#include "front.h"
#include "hold.h"
#include "loads.h"
#include "place.h"
#include "work.h"

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
    const double before_s = one->spent_s;
    if (options->emulate_s > 0) {
        /* No processor time to measure. */
        advance(one, options, step * options->speed);
        fail("sennit_object_load", sennit_object_load(set, object, one->spent_s - before_s));
    } else {
        fail("sennit_object_begin", sennit_object_begin(set, object));
        advance(one, options, step * options->speed);
        fail("sennit_object_end", sennit_object_end(set, object));
    }
    loads_note(step, object, one->spent_s - before_s);
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
    for (int object = 0; object < count; ++object) {
        const place at = first_place(options, ranks, omp_get_max_threads(), object);
        if (at.rank != rank)
            continue;
        domain *one = make_domain(options, object % options->side, object / options->side);
        if (!one) {
            fprintf(stderr, "front: no memory for a domain of %d x %d cells\n", options->cells,
                    options->cells);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        one->thread = at.thread;
        fail("sennit_objects_add_memory",
             sennit_objects_add_memory(set, object, one, domain_bytes(options->cells)));
        fail("sennit_objects_position", sennit_objects_position(set, object, object % options->side,
                                                                object / options->side, 0));
    }
    fail("sennit_objects_commit", sennit_objects_commit(set));
    return set;
}

/* Of the calls of the balancer, and of the steps. */
typedef struct {
    double balance_s;
    double imbalance; /* sum over the calls */
    double node_imbalance;
    long moved;
    int calls, declined;
    /* Work, summed over the steps: of the thread that had most, of the rank that had most, of all.
     */
    double most_of_thread, most_of_rank, work;
    double start, late_s; /* the clock, and late_seconds(), when counting began */
} totals;

static void work_on_domains(sennit_objects *set, const front_options *options, int step) {
    const int *local;
    const int count = sennit_objects_local(set, &local);
    if (options->domains == domains_serial) {
        for (int i = 0; i < count; ++i)
            step_of(set, options, local[i], step);
    } else if (options->domains == domains_threads) {
#pragma omp parallel
        for (int i = 0; i < count; ++i) {
            const domain *one = sennit_object_data(set, local[i]);
            if (one->thread % omp_get_num_threads() == omp_get_thread_num())
                step_of(set, options, local[i], step);
        }
    } else {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < count; ++i) {
            const int object = local[i];
#pragma omp task firstprivate(object)
            step_of(set, options, object, step);
        }
    }
}

/* All ranks agree on the next time step, as they would if its length followed from the last one.
 * `all`: room for the work of every rank. */
static void agree(int ranks, work_share *all, totals *sums) {
    const work_share mine = work_since();
    MPI_Allgather(&mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    double most_of_thread = 0, most_of_rank = 0, sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        most_of_thread = fmax(most_of_thread, all[rank].most);
        most_of_rank = fmax(most_of_rank, all[rank].all);
        sum += all[rank].all;
    }
    sums->most_of_thread += most_of_thread;
    sums->most_of_rank += most_of_rank;
    sums->work += sum;
}

static void call_balancer(sennit_objects *set, int threads, totals *sums) {
    sennit_balance_info info;
    fail("sennit_balance", sennit_balance(set, &info));
    sums->balance_s += info.seconds;
    sums->imbalance += info.imbalance;
    sums->node_imbalance += info.node_imbalance;
    sums->moved += info.moved;
    sums->declined += info.declined != 0;
    ++sums->calls;
    const int *local;
    const int count = sennit_objects_local(set, &local);
    domain **domains = malloc(((size_t)count + 1) * sizeof *domains);
    for (int i = 0; domains && i < count; ++i)
        domains[i] = sennit_object_data(set, local[i]);
    if (domains && info.moved > 0)
        deal(domains, count, threads);
    for (int i = 0; domains && i < count; ++i)
        domains[i]->spent_s = 0;
    free(domains);
}

static void run_steps(sennit_objects *set, const front_options *options, int ranks, int threads,
                      totals *sums) {
    work_share *all = malloc((size_t)ranks * sizeof *all);
    fail("malloc", all ? MPI_SUCCESS : MPI_ERR_OTHER);
    for (int step = 0; step < options->steps; ++step) {
        if (step == options->count_from) {
            MPI_Barrier(MPI_COMM_WORLD);
            *sums = (totals){.start = MPI_Wtime(), .late_s = late_seconds()};
        }
        work_on_domains(set, options, step);
        agree(ranks, all, sums);
        if (options->period > 0 && (step + 1) % options->period == 0 && step + 1 < options->steps)
            call_balancer(set, threads, sums);
    }
    free(all);
}

/* Of all ranks, on rank 0. */
typedef struct {
    double outside_s, band_s, slope, late_s, burnt;
    long outside, band, slopes;
} costs;

static costs costs_of_all(sennit_objects *set, double late_before_s) {
    double seconds[5] = {0, 0, 0, late_seconds() - late_before_s, 0};
    long cells[3] = {0};
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int i = 0; i < count; ++i) {
        const domain *one = sennit_object_data(set, local[i]);
        seconds[0] += one->cost.outside_s;
        seconds[1] += one->cost.band_s;
        seconds[2] += one->slope;
        seconds[4] += one->burnt;
        cells[0] += one->cost.outside;
        cells[1] += one->cost.band;
        cells[2] += one->slopes;
    }
    double all_seconds[5] = {0};
    long all_cells[3] = {0};
    MPI_Reduce(seconds, all_seconds, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(cells, all_cells, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    return (costs){.outside_s = all_seconds[0],
                   .band_s = all_seconds[1],
                   .slope = all_seconds[2],
                   .late_s = all_seconds[3],
                   .burnt = all_seconds[4],
                   .outside = all_cells[0],
                   .band = all_cells[1],
                   .slopes = all_cells[2]};
}

static outcome outcome_of_all(sennit_objects *set, const front_options *options) {
    outcome mine = {0}, all;
    const int *local;
    const int count = sennit_objects_local(set, &local);
    for (int i = 0; i < count; ++i)
        look_at(sennit_object_data(set, local[i]), options, &mine);
    MPI_Allreduce(&mine.worst, &all.worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.arrived, &all.arrived, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.missed, &all.missed, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    /* Bit by bit the same wherever the domains were. */
    MPI_Allreduce(&mine.sum, &all.sum, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
    return all;
}

static void print_costs(const costs *found, const front_options *options) {
    const double outside_ns = 1e9 * found->outside_s / (double)found->outside;
    const double band_ns = outside_ns + 1e9 * found->band_s / fmax((double)found->band, 1);
    printf("cells: outside %.1f ns, in the band %.1f ns, ratio %.1f; in the band %.1f%%\n",
           outside_ns, band_ns, band_ns / outside_ns,
           100 * (double)found->band / (double)found->outside);
    const double cells = (double)options->side * options->side * options->cells * options->cells;
    printf("front: slope off by %.4f, burnt %.1f%%\n",
           found->slope / fmax((double)found->slopes, 1), 100 * found->burnt / cells);
}

int main(int argc, char **argv) {
    if (asks_for_help(argc, argv))
        return fputs(front_usage, stdout) < 0;
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
    const int threads = omp_get_max_threads();
    work_setup(threads, options.emulate_s > 0);
    if (options.loads)
        fail("malloc",
             loads_setup(options.steps, options.side * options.side) ? MPI_SUCCESS : MPI_ERR_OTHER);
    sennit_objects *set = make_domains(&options, rank, ranks);
    totals sums = {0};
    run_steps(set, &options, ranks, threads, &sums);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - sums.start;

    const outcome all = outcome_of_all(set, &options);
    int right = all.missed == 0 && all.worst <= front_tolerance(&options);
    const costs spent = costs_of_all(set, sums.late_s);
    if (rank == 0) {
        const int calls = sums.calls > 0 ? sums.calls : 1;
        printf("seconds %.4f balance %.4f imbalance %.4f node_imbalance %.4f moved %ld calls %d\n",
               seconds, sums.balance_s, sums.imbalance / calls, sums.node_imbalance / calls,
               sums.moved, sums.calls);
        printf("arrived %ld missed %ld worst %.4f checksum %016lx: %s\n", all.arrived, all.missed,
               all.worst, all.sum, right ? "right" : "WRONG");
        /* Percent imbalance, as `sennit report` has it of a region: steps weigh by their work. */
        printf("steps: thread_lambda %.4f rank_lambda %.4f declined %d late %.4f\n",
               sums.most_of_thread * ranks * threads / sums.work - 1,
               sums.most_of_rank * ranks / sums.work - 1, sums.declined,
               spent.late_s / (seconds * ranks * threads));
        print_costs(&spent, &options);
    }
    if (options.loads && !loads_write(options.loads) && rank == 0) {
        fprintf(stderr, "front: %s cannot be written\n", options.loads);
        right = 0;
    }
    sennit_objects_free(&set);
    MPI_Finalize();
    return right ? 0 : 1;
}
