/* SPDX-License-Identifier: Apache-2.0
 * Hybrid ranks that have different amounts of work: in a step, rank r does `weight` regions, whose
 * loop its threads share, and waits for the others.
 *
 * usage: phases HOW GRAIN STEPS [clock | REGIONS]; prints us, or when it began and ended, on the
 * node's clock. A region's loop has GRAIN iterations of some 1 us. REGIONS are for a weight of one.
 *
 * All three HOWs do the same work in all. `even`: each rank does the mean. `uneven`: 1 to 3, by the
 * rank's number. `turns`: the same, but the ranks change places from step to step.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double iteration(int number) {
    double sum = number;
    for (int i = 0; i < 1000; ++i)
        sum = sum * 1.0000001 + 1e-9;
    return sum;
}

static double region(int grain) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < grain; ++i)
        sum += iteration(i);
    return sum;
}

int main(int argc, char **argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *row = argc > 1 ? argv[1] : "";
    const int grain = argc > 2 ? atoi(argv[2]) : 0, steps = argc > 3 ? atoi(argv[3]) : 0;
    if (grain <= 0 || steps <= 0) {
        fprintf(stderr, "usage: phases even|uneven|turns GRAIN STEPS [clock | REGIONS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int has_clock = argc > 4 && strcmp(argv[4], "clock") == 0;
    /* 20 ms of work a rank and step, whatever the grain. */
    const int unit = argc > 4 && !has_clock ? atoi(argv[4]) : 10000 / grain > 0 ? 10000 / grain : 1;
    double sum = region(grain), mine = 0, longest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        const int heavy = strcmp(row, "turns") == 0 ? (rank + step) % 2 : rank % 2;
        const int weight = strcmp(row, "even") == 0 ? 2 : heavy ? 3 : 1;
        for (int i = 0; i < weight * unit; ++i)
            sum += region(grain);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    mine = MPI_Wtime() - begin;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end_us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && sum != 0 && has_clock)
        printf("%.0f %.0f\n", end_us - mine * 1e6, end_us);
    else if (rank == 0 && sum != 0)
        printf("%.0f\n", longest * 1e6);
    MPI_Finalize();
    return 0;
}
