/* SPDX-License-Identifier: Apache-2.0
 * Undeferred tasks that do not hold up their creator. Compiled with -sennit-detach. */
#include <mpi.h>

extern double *blocks[16];
double whole[64];
extern MPI_Comm world;

void receive(double *x, int from, int tag) {
#pragma omp task if (0) depend(out : x[0])
    MPI_Recv(x, 64, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it // done: MPI_Recv does not hold up the creator of its task
}

void send_all(int to) {
    for (int i = 0; i < 16; ++i) {
        double *x = blocks[i];
#pragma omp task if (0) depend(in : x[0])
        MPI_Send(x, 64, MPI_DOUBLE, to, i, world); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
    }
}

void exchange(double *x, double *y, int other) {
#pragma omp task if (0) depend(in : x[0]) depend(out : y[0])
    MPI_Sendrecv(x, 64, MPI_DOUBLE, other, 0, y, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, // done: MPI_Sendrecv is bound to its task, which ends without waiting for it // done: MPI_Sendrecv does not hold up the creator of its task
                 MPI_STATUS_IGNORE);
}

double creator_looks(int from, int n) {
    double sum = 0;
#pragma omp task if (0) depend(out : whole)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it // done: MPI_Recv of whole does not hold up the creator of its task before a read of whole (line +2)
    for (int i = 0; i < n; ++i)
        sum += whole[i];
    return sum;
}

void creator_calls_mpi(double *x, int to) {
#pragma omp task if (0) depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task before a call of MPI_Barrier (line +1)
    MPI_Barrier(MPI_COMM_WORLD);
}

void creator_counts(int to) {
    static int tag;
    for (int i = 0; i < 16; ++i, ++tag) {
        double *x = blocks[i];
#pragma omp task if (0) depend(in : x[0])
        MPI_Send(x, 64, MPI_DOUBLE, to, tag, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
    }
}

/* A taskwait that names what is exchanged behind it is such a task. */
void waits_for_block(int to) {
    const MPI_Comm mine = world; /* read behind the taskwait, it might be what a task has written */
    for (int i = 0; i < 16; ++i) {
        double *x = blocks[i];
#pragma omp taskwait depend(in : x[0])
        MPI_Send(x, 64, MPI_DOUBLE, to, i, mine); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
    }
}

/* As the number of values here: the call stays where it is. */
static int filled;
void sends_what_a_task_has_filled(double *x, int to) {
#pragma omp task depend(out : x[0])
    x[filled++] = 1;
#pragma omp taskwait depend(in : x[0])
    MPI_Send(x, filled, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of filled (line +0), which a task may have written // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}

double waits_and_looks(int from) {
#pragma omp taskwait depend(out : whole)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it // done: MPI_Recv of whole does not hold up the creator of its task before a read of whole (line +1)
    return whole[3];
}

/* What it calls calls MPI, or touches what is exchanged. */
__attribute__((noinline)) static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}
__attribute__((noinline)) static double look(int i) {
    return whole[i];
}
void calls_barrier(double *x, int to) {
#pragma omp task if (0) depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task before a call of barrier (line +1)
    barrier();
}
double calls_look(int from) {
#pragma omp task if (0) depend(out : whole)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it // done: MPI_Recv of whole does not hold up the creator of its task before a call of look (line +1)
    return look(3) + 1;
}

/* Between the last call and the return nothing may stand. */
void goes_on(double *x, int to);
void calls_last(double *x, int to) {
#pragma omp task if (0) depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task before a call of goes_on (line +1)
    __attribute__((musttail)) return goes_on(x, to);
}

/* Behind a branch, and in a loop: each call is a task. */
void to_others(double *x, int me, int ranks) {
#pragma omp taskwait depend(in : x[0])
    for (int rank = 0; rank < ranks; ++rank)
        if (rank != me)
            MPI_Send(x, 64, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
}
void one_way(double *x, int me, int from, int to) {
#pragma omp taskwait depend(inout : x[0])
    if (me == from)
        MPI_Send(x, 64, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
    else if (me == to)
        MPI_Recv(x, 64, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it // done: MPI_Recv does not hold up the creator of its task
}

/* Variables that only main writes, and the region around: what reads them may come before the taskwait. */
static int neighbour;
static double *rows[16];
static MPI_Comm ours;
void fill(double *x, int n);
int main(int argc, char **argv) {
    int last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &neighbour);
    MPI_Comm_size(MPI_COMM_WORLD, &last);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    neighbour ^= 1;
    for (int i = 0; i < 16; ++i)
        rows[i] = blocks[i] + last;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 16; ++i) {
        double *x = rows[i];
#pragma omp task depend(out : x[0])
        fill(x, last);
#pragma omp taskwait depend(in : x[0])
        MPI_Send(x, last, MPI_DOUBLE, neighbour, i, ours); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
#pragma omp taskwait depend(in : rows[i][0])
        for (int rank = 0; rank < last; ++rank)
            if (rank != neighbour)
                MPI_Send(rows[i], 64, MPI_DOUBLE, rank, i, ours); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
    }
    MPI_Finalize();
    return 0;
}
