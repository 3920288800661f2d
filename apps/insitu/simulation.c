/* SPDX-License-Identifier: Apache-2.0
 * A simulation whose field others read where it lies: heat that spreads along a rod, a part of it
 * in each rank. After each step a rank publishes its part, and goes on when the analysis has read
 * it.
 *
 *   sennit run --virtual --apart -n 4 simulation 1000 : -n 1 analysis 4
 *
 * usage: simulation STEPS [CELLS-OF-A-RANK]. It waits for the analysis for a minute, and goes on
 * alone if that ends. */
#include "insitu.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

/* old[0] and old[cells + 1] are the neighbours' cells; at both ends of the rod it is closed. */
static void exchange(double *old, int cells) {
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    old[0] = old[1];
    old[cells + 1] = old[cells];
    MPI_Sendrecv(&old[1], 1, MPI_DOUBLE, left, 0, &old[cells + 1], 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&old[cells], 1, MPI_DOUBLE, right, 0, &old[0], 1, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    const int cells = argc > 2 ? atoi(argv[2]) : 1000;
    double *heat = calloc(cells + 2, sizeof *heat);
    double *old = calloc(cells + 2, sizeof *old);
    if (rank == 0)
        old[1] = 1000.0;

    /* A range stays where it is: the field that is shown is always the same one. */
    char name[64];
    sennit_range field, read;
    snprintf(name, sizeof name, "field.%d", rank);
    must(sennit_export(name, heat, (cells + 2) * sizeof *heat, &field), "export");
    int watched = sennit_import("read", a_minute, &read) == SENNIT_EXPORT_SUCCESS;
    for (int step = 1; step <= steps; ++step) {
        exchange(old, cells);
        for (int i = 1; i <= cells; ++i)
            heat[i] = old[i] + 0.25 * (old[i - 1] - 2 * old[i] + old[i + 1]);
        must(sennit_publish(field), "publish");
        for (int i = 1; i <= cells; ++i)
            old[i] = heat[i];
        if (watched && sennit_range_wait(read, step - 1, a_minute, NULL) != SENNIT_EXPORT_SUCCESS)
            watched = 0;
    }
    must(sennit_unexport(field), "unexport");
    double mine = 0, all = 0;
    for (int i = 1; i <= cells; ++i)
        mine += heat[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("simulation: %d steps, heat %.6f, %s\n", steps, all,
               watched ? "watched to the end" : "not watched to the end");
    MPI_Finalize();
    return 0;
}
