/* SPDX-License-Identifier: Apache-2.0
 * Undeferred tasks that only exchange messages, in a program that is right without their if
 * clauses. Compiled with -sennit-detach.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 40, LENGTH = 3000 };
static double *blocks[MESSAGES];
static int rank, wrong;
static int announced;

static void expect(const double *x, double value) {
    for (int k = 0; k < LENGTH; ++k)
        if (x[k] != value) {
#pragma omp atomic write
            wrong = 1;
        }
}

static void fill(double *x, double value) {
    for (int k = 0; k < LENGTH; ++k)
        x[k] = value;
}

static void answer_last_first(void) {
    double x[LENGTH];
    for (int i = MESSAGES - 1; i >= 0; --i) {
        int answer = -1;
        fill(x, i);
        MPI_Send(x, LENGTH, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong |= answer != i;
    }
}

/* The first message comes last, when all the others have been answered: so all of them are under
 * way at a time, and their creator has gone on to make the tasks that answer. */
static void all_at_once(void) {
    if (rank == 1) {
        answer_last_first();
        return;
    }
    for (int i = 0; i < MESSAGES; ++i) {
        double *x = blocks[i];
#pragma omp task if (0) depend(out : x[0])
        MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
        {
            expect(x, i);
            MPI_Send(&i, 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD);
        }
    }
#pragma omp taskwait
}

/* Messages of the same envelope are received in the order of the program, whichever task of the
 * blocks is first. */
static void in_order(void) {
    for (int i = 0; i < MESSAGES; ++i) {
        double *x = blocks[i];
        if (rank == 1) {
#pragma omp task depend(out : x[0])
            fill(x, 1000 + i);
#pragma omp task if (0) depend(in : x[0])
            MPI_Send(x, i % 3 ? LENGTH : 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
        } else {
#pragma omp task if (0) depend(out : x[0])
            MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
            if (x[0] != 1000 + i) {
#pragma omp atomic write
                wrong = 1;
            }
        }
    }
#pragma omp taskwait
}

/* A receive of any tag comes when those before it are complete. What it gets is sent in the order of
 * the program, for the creator sends it itself. */
static void of_any_tag(void) {
    for (int i = 0; i < MESSAGES; ++i) {
        double *x = blocks[i];
        if (rank == 1) {
            fill(x, 2000 + i);
            MPI_Send(x, LENGTH, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
            continue;
        }
        const int tag = i % 4 == 3 ? MPI_ANY_TAG : i;
#pragma omp task if (0) depend(out : x[0])
        MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
        expect(x, 2000 + i);
    }
#pragma omp taskwait
}

/* The creator looks at what has come, and calls MPI itself. */
static void creator_looks(void) {
    for (int i = 0; i < MESSAGES; ++i) {
        int local = -1;
        if (rank == 1) {
            MPI_Send(&i, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
            MPI_Send(&i, 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
            MPI_Send(&i, 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
            continue;
        }
#pragma omp task if (0) depend(out : announced)
        MPI_Recv(&announced, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong |= announced != i;
#pragma omp task if (0) depend(out : local) shared(local)
        MPI_Recv(&local, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong |= local != i;
#pragma omp task if (0) depend(out : announced)
        MPI_Recv(&announced, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The task reads variables that are shared, and that the creator changes. */
static void shared_variables(void) {
    int tag = 20, count = LENGTH;
    for (int i = 0; i < MESSAGES; ++i, ++tag, --count) {
        double *x = blocks[i];
        if (rank == 1) {
#pragma omp task depend(out : x[0])
            fill(x, 3000 + i);
#pragma omp task if (0) depend(in : x[0]) shared(tag, count)
            MPI_Send(x, count, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
        } else {
#pragma omp task if (0) depend(out : x[0]) shared(tag, count)
            MPI_Recv(x, count, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
            if (x[0] != 3000 + i) {
#pragma omp atomic write
                wrong = 1;
            }
        }
    }
#pragma omp taskwait
}

/* One rank sends, the other one receives: behind a taskwait, in branches that read what only `main` writes. */
static void in_branches(void) {
    for (int i = 0; i < MESSAGES; ++i) {
        double *x = blocks[i];
        const int from = i % 2;
#pragma omp task depend(out : x[0])
        fill(x, rank == from ? 4000 + i : -1);
#pragma omp taskwait depend(inout : blocks[i][0])
        if (rank == from)
            MPI_Send(blocks[i], LENGTH, MPI_DOUBLE, 1 - from, 30 + i, MPI_COMM_WORLD);
        else
            MPI_Recv(blocks[i], LENGTH, MPI_DOUBLE, from, 30 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
        expect(x, 4000 + i);
    }
#pragma omp taskwait
}

/* Both directions of one task. */
static void exchange(void) {
    for (int i = 0; i + 1 < MESSAGES; i += 2) {
        double *x = blocks[i], *y = blocks[i + 1];
#pragma omp task depend(out : x[0])
        fill(x, rank + i);
#pragma omp task if (0) depend(in : x[0]) depend(out : y[0])
        MPI_Sendrecv(x, LENGTH, MPI_DOUBLE, 1 - rank, i, y, LENGTH, MPI_DOUBLE, 1 - rank, i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : y[0])
        expect(y, 1 - rank + i);
    }
#pragma omp taskwait
}

/* The creator waits for a block and exchanges it itself: as all_at_once, with answers in the row of
 * the program, and a variable tag. */
static void between_tasks(void) {
    int tag = 1000;
    for (int i = 0; i < MESSAGES; ++i, ++tag) {
        double *x = blocks[i];
        if (rank == 1) {
#pragma omp task depend(out : x[0])
            fill(x, 4000 + i);
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, LENGTH, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
            MPI_Send(x, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
#pragma omp task depend(inout : x[0])
            fill(x, -1);
        } else {
#pragma omp taskwait depend(inout : x[0])
            MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(inout : x[0])
            {
                expect(x, 4000 + i);
                x[0] = -1;
            }
#pragma omp taskwait depend(inout : x[0])
            MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
            expect(x, 4000 + i);
        }
    }
#pragma omp taskwait
    for (int i = 0; i < MESSAGES; ++i) {
        double *x = blocks[i];
        if (rank == 0) {
#pragma omp taskwait depend(inout : x[0])
            MPI_Recv(x, LENGTH, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : x[0])
            {
                expect(x, i);
                MPI_Send(&i, 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD);
            }
        }
    }
    if (rank == 1)
        answer_last_first();
#pragma omp taskwait
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; ++i)
        blocks[i] = calloc(LENGTH, sizeof(double));
#pragma omp parallel
#pragma omp single
    {
        all_at_once();
        in_order();
        of_any_tag();
        creator_looks();
        shared_variables();
        in_branches();
        exchange();
        between_tasks();
    }
    if (wrong)
        fprintf(stderr, "rank %d: wrong numbers\n", rank);
    MPI_Finalize();
    return wrong;
}
