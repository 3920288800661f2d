/* SPDX-License-Identifier: Apache-2.0
 * wrapped: out={bin}/{program}-{compiler}-{mpi} compiler=all -fopenmp
 * For bound_ranks.py: a line for each thread of each rank, with the processors that it may use.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
        char line[8192]; /* written at once: other ranks write, too */
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        int used = sprintf(line, "rank %d thread %d of %d cpus", rank, omp_get_thread_num(),
                           omp_get_num_threads());
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set))
                used += sprintf(line + used, " %d", cpu);
#pragma omp critical
        {
            strcat(line, "\n");
            fputs(line, stdout);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
