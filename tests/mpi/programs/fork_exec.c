/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2
 * chaos: number=33
 * fork and exec inside a task, and a child that leaves at once, while other tasks of the process
 * are suspended in MPI: neither the children nor the suspended tasks are harmed. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { tasks = 50 };

static int status_of(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int values[tasks];
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
            MPI_Recv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
#pragma omp task
        {
            pid_t child = fork();
            if (child == 0) {
                execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
                _exit(127);
            }
            CHECK(status_of(child) == 3);
            child = fork();
            if (child == 0)
                _exit(4);
            CHECK(status_of(child) == 4);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < tasks; ++i)
                MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < tasks; ++i)
        CHECK(values[i] == i);
    MPI_Finalize();
    return 0;
}
