/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" # it looks at its memory
 * test: shape=2x1|2x2
 * chaos: number=26
 * Ten thousand tasks of one rank suspended in MPI_Recv at once, on one thread or more; their
 * resident memory is printed and must stay below 16 KiB each. Its stock twin hangs. */
#include "check.h"

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

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int *values = malloc(tasks * sizeof *values);
    const long before = resident_kib("VmRSS:");
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
            MPI_Recv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
        printf("%d suspended tasks: %.1f KiB resident each at the peak\n", tasks, each);
    CHECK(each < 16.0);
    free(values);
    MPI_Finalize();
    return 0;
}
