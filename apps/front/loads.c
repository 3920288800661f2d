/* SPDX-License-Identifier: Apache-2.0 */
#include "loads.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static float *g_loads;
static int g_steps, g_domains;

int loads_setup(int steps, int domains) {
    g_steps = steps;
    g_domains = domains;
    g_loads = calloc((size_t)steps * (size_t)domains, sizeof *g_loads);
    return g_loads != NULL;
}

void loads_note(int step, int domain, double seconds) {
    if (g_loads)
        g_loads[(size_t)step * (size_t)g_domains + (size_t)domain] = (float)seconds;
}

/* A domain is on one rank in each step, the others have 0 for it. */
int loads_write(const char *path) {
    int rank, good = 1; /* on other ranks than the first */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *const file = rank == 0 ? fopen(path, "wb") : NULL;
    float *const sums = calloc((size_t)g_domains, sizeof *sums);
    if (!sums)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < g_steps; ++step) {
        MPI_Reduce(g_loads + (size_t)step * (size_t)g_domains, sums, g_domains, MPI_FLOAT, MPI_SUM,
                   0, MPI_COMM_WORLD);
        if (file)
            good &= fwrite(sums, sizeof *sums, (size_t)g_domains, file) == (size_t)g_domains;
    }
    if (rank == 0)
        good = file && good && fclose(file) == 0;
    free(sums);
    free(g_loads);
    g_loads = NULL;
    return good;
}
