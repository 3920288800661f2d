/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- {library} # it looks at its memory
 * test: shape=2x1|2x2
 * chaos: number=26
 * paired: mpi.many_bound.{mpi} if="not sanitized" shape=2x1 -- bound
 * Ten thousand tasks of one rank suspended in MPI_Recv at once, on one thread or more; their
 * resident memory is printed and must stay below 16 KiB each. Its stock twin hangs.
 * "bound": tasks that end, bound to their messages by TAMPI_Iwait, have given back their stacks
 * (task-aware MPI paper, section 4.3). Two pages are less than any stack. */
#include "check.h"

#include <TAMPI.h>
#include <string.h>

enum { tasks = 10000 };

static long resident_kib(const char *field) {
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), " %ld", &value);
    if (status)
        fclose(status);
    return value;
}

static void receive(int *value, int tag, int bound) {
    MPI_Request request;
    if (!bound) {
        MPI_Recv(value, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(value, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
    CHECK(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const int bound = argc > 1;
    const double limit = bound ? 4.0 : 16.0;
    int *values = malloc(tasks * sizeof *values);
    const long before = resident_kib("VmRSS:");
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
            receive(&values[i], i, bound);
        }
        /* Nobody sends before everybody's receives are created and, on this thread, run. */
#pragma omp task
        {
            for (int i = 0; i < 1000; ++i) {
#pragma omp taskyield
            }
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = tasks - 1; i >= 0; --i)
                MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < tasks; ++i)
        CHECK(values[i] == i);
    const double each = (double)(resident_kib("VmHWM:") - before) / tasks;
    if (rank == 0)
        printf("%d %s tasks: %.1f KiB resident each at the peak\n", tasks,
               bound ? "bound" : "suspended", each);
    CHECK(each < limit);
    free(values);
    MPI_Finalize();
    return 0;
}
