/* SPDX-License-Identifier: Apache-2.0
 * Collective calls that are started together: how many before the first wait, and what arrives.
 * Each matches one that another rank calls alone. Buffers that meet are waited for.
 * Compiled with -sennit-collectives. */
// stock
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 100 };
static int started, most, failures, rank;

static void check(int ok, const char *what) {
    if (!ok) {
        ++failures;
        fprintf(stderr, "wrong on rank %d: %s\n", rank, what);
    }
}

static void count(int wanted, const char *what) {
    check(most == wanted, what);
    started = most = 0;
}

static int note(int error) {
    ++started;
    most = started > most ? started : most;
    return error;
}

int MPI_Ibcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request) {
    return note(PMPI_Ibcast(buffer, n, type, root, comm, request));
}
int MPI_Iallreduce(const void *sent, void *received, int n, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request *request) {
    return note(PMPI_Iallreduce(sent, received, n, type, operation, comm, request));
}
int MPI_Igatherv(const void *sent, int n, MPI_Datatype type, void *received, const int *counts,
                 const int *places, MPI_Datatype as, int root, MPI_Comm comm,
                 MPI_Request *request) {
    return note(
        PMPI_Igatherv(sent, n, type, received, counts, places, as, root, comm, request));
}
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    started = 0;
    return PMPI_Wait(request, status);
}
int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    started = 0;
    return PMPI_Waitall(n, requests, statuses);
}

#define APART __attribute__((noinline)) static

APART void three(int *x, int *y, int *z, MPI_Comm first, MPI_Comm second) {
    MPI_Bcast(x, 2, MPI_INT, 0, first);
    MPI_Bcast(y, 2, MPI_INT, 1, second);
    MPI_Bcast(z, 2, MPI_INT, 0, first);
}

/* What another rank calls in a batch. */
APART int one_by_one(int *x, int *y, int *z) {
    int error = MPI_Bcast(x, 2, MPI_INT, 0, MPI_COMM_WORLD);
    error |= MPI_Bcast(y, 2, MPI_INT, 1, MPI_COMM_WORLD);
    error |= MPI_Bcast(z, 2, MPI_INT, 0, MPI_COMM_WORLD);
    return error;
}

APART void table(int **places, int n) {
    for (int i = 0; i < n; ++i)
        MPI_Bcast(places[i], 2, MPI_INT, i % 2, MPI_COMM_WORLD);
}

APART void sums(const int *out, int *x, int *y) {
    MPI_Allreduce(out, x, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(out, y, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

APART void parts(const int *out, int *x, int *y, const int *counts, const int *places) {
    MPI_Gatherv(out, rank + 1, MPI_INT, x, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(out, rank + 1, MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
}

/* Any pointer may be called, too: it is the same call. */
static int (*volatile broadcast)(void *, int, MPI_Datatype, int, MPI_Comm) = MPI_Bcast;

static int mine(int ours, int others) {
    return rank == 0 ? ours : others;
}

int main(int argc, char **argv) {
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);

    int x[8] = {mine(1, 0), mine(2, 0)}, y[8] = {mine(0, 3), mine(0, 4)}, z[8] = {mine(5, 0)};
    three(x, y, z, MPI_COMM_WORLD, MPI_COMM_WORLD);
    count(3, "three broadcasts");
    check(x[0] == 1 && x[1] == 2 && y[0] == 3 && y[1] == 4 && z[0] == 5, "three numbers");
    three(x, y, z, MPI_COMM_WORLD, copy);
    count(1, "broadcasts in two communicators");
    three(x, x + 1, z, MPI_COMM_WORLD, MPI_COMM_WORLD);
    count(2, "broadcasts that overlap");
    check(x[1] == 2 && x[2] == 0, "what overlaps");

    if (rank == 0)
        three(x, y, z, MPI_COMM_WORLD, MPI_COMM_WORLD);
    else
        check(one_by_one(x, y, z) == MPI_SUCCESS, "one by one");
    count(mine(3, 1), "together here, one by one there");

    int numbers[2 * MANY], *places[MANY];
    for (int i = 0; i < MANY; ++i) {
        places[i] = &numbers[2 * i];
        places[i][0] = mine(i, -i);
    }
    table(places, MANY);
    count(32, "broadcasts of a loop");
    for (int i = 0; i < MANY; ++i)
        check(numbers[2 * i] == (i % 2 ? -i : i), "numbers of a loop");
    for (int i = 0; i < MANY; ++i)
        places[i] = numbers;
    numbers[0] = rank;
    table(places, MANY);
    count(1, "broadcasts of a loop into one buffer");

    sums(x, y, z);
    count(2, "sums");
    check(y[0] == 2 && z[1] == 2, "sums of numbers");
    sums(x, y, y + 1);
    count(1, "sums that overlap");
    const int counts[2] = {1, 2}, at[2] = {3, 0};
    int out[2] = {10 + rank, 20};
    parts(out, x, y, counts, at);
    count(2, "what one rank gathers");
    check(rank == 1 || (x[3] == 10 && x[0] == 11 && x[1] == 20 && y[3] == 10), "gathered numbers");
    parts(out, x, x + 2, counts, at);
    count(mine(1, 2), "what one rank gathers in one place");

    x[0] = mine(77, 0);
    check(broadcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && x[0] == 77,
          "through a pointer");
    count(1, "through a pointer");
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
