/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2|3x1|4x1
 * chaos: number=31
 * split:
 * The program's own operations use OpenMP, in collectives of tasks: a region, tasks, a lock that
 * tasks hold while they wait in MPI. And a broadcast between groups, whose type has gaps. */
#include "check.h"

static void compute(const int *in, int *inout, int count) {
    for (int i = 0; i < count; ++i)
        inout[i] += in[i];
}

static void in_region(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads += 1;
    CHECK(threads >= 1);
    compute(in, inout, *count);
}

static void in_task(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
#pragma omp task
    compute(in, inout, *count);
#pragma omp taskwait
}

static void in_turn(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
#pragma omp critical(turn)
    compute(in, inout, *count);
}

enum { kinds = 3 };

static void reduce(MPI_Op operation, MPI_Comm comm) {
    int sum = -1, scan = -1, block = -1, values[64];
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, operation, comm);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Scan(&rank, &scan, 1, MPI_INT, operation, comm);
    CHECK(scan == rank * (rank + 1) / 2);
    CHECK(ranks <= 64);
    for (int i = 0; i < ranks; ++i)
        values[i] = rank + i;
    MPI_Reduce_scatter_block(values, &block, 1, MPI_INT, operation, comm);
    CHECK(block == ranks * (ranks - 1) / 2 + ranks * rank);
}

static void broadcast_between_groups(void) {
    enum { count = 50 };
    int values[2 * count];
    MPI_Comm half, others;
    MPI_Datatype gaps;
    const int sends = rank % 2 == 0, root = (ranks + 1) / 2 - 1; /* the last of those that send */
    MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Comm_split(MPI_COMM_WORLD, sends, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, sends, 0, &others);
    for (int i = 0; i < 2 * count; ++i)
        values[i] = sends ? i : -1;
    MPI_Bcast(values, 1, gaps, !sends ? root : rank == 2 * root ? MPI_ROOT : MPI_PROC_NULL, others);
    for (int i = 0; i < 2 * count - 1; ++i)
        CHECK(values[i] == (sends || i % 2 == 0 ? i : -1));
    MPI_Type_free(&gaps);
    MPI_Comm_free(&others);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_User_function *const functions[kinds] = {in_region, in_task, in_turn};
    MPI_Op operations[kinds];
    MPI_Comm comms[kinds];
    for (int i = 0; i < kinds; ++i) {
        MPI_Op_create(functions[i], 1, &operations[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < kinds; ++i) {
#pragma omp task firstprivate(i)
                reduce(operations[i], comms[i]);
            }
            for (int i = 0; i < kinds; ++i) {
#pragma omp task firstprivate(i)
#pragma omp critical(turn)
                {
                    int value = -1;
                    MPI_Sendrecv(&i, 1, MPI_INT, next(), 0, &value, 1, MPI_INT, previous(), 0,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    CHECK(value >= 0 && value < kinds);
                }
            }
        }
    }
#pragma omp parallel
#pragma omp single
#pragma omp task
    broadcast_between_groups();
    for (int i = 0; i < kinds; ++i) {
        MPI_Op_free(&operations[i]);
        MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
