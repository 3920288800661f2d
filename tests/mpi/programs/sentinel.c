/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all
 * test: sample="shape == '2x2'"
 * chaos: number=20
 * Task-aware MPI, figure 6: the program orders its communication by a sentinel, unless the library
 * provides MPI_TASK_MULTIPLE. Then the sentinel is a null pointer, so that there is no dependence.
 * Each rank sends in one order and receives in the other one: nothing ends before all have begun.
 */
#include "check.h"

#include <TAMPI.h>

enum { tiles = 8 };

/* From GCC 13 on, a null pointer in `depend` stands for omp_all_memory. So there the tasks that are
 * in no order have an address each. */
static int *order(int *sentinel, int task) {
#if !defined __clang__ && __GNUC__ >= 13
    static int each[2 * tiles];
    return sentinel ? sentinel : &each[task];
#else
    (void)task;
    return sentinel;
#endif
}

static void exchange(int *sentinel) {
    int in[tiles], out[tiles];
    for (int i = 0; i < tiles; ++i) {
        in[i] = -1;
        out[i] = 100 * rank + i;
    }
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tiles; ++i) {
            int *const turn = order(sentinel, i);
#pragma omp task shared(out) firstprivate(i) depend(inout : out[i]) depend(inout : *turn)
            MPI_Ssend(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
        for (int i = tiles - 1; i >= 0; --i) {
            int *const turn = order(sentinel, tiles + i);
#pragma omp task shared(in) firstprivate(i) depend(inout : in[i]) depend(inout : *turn)
            MPI_Recv(&in[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task shared(in) firstprivate(i) depend(in : in[i])
            CHECK(in[i] == 100 * previous() + i);
        }
    }
}

int main(int argc, char **argv) {
    static int address;
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_TASK_MULTIPLE);
    int *volatile sentinel = provided == MPI_TASK_MULTIPLE ? NULL : &address;
    for (int round = 0; round < 20; ++round)
        exchange(sentinel);
    MPI_Finalize();
    return 0;
}
