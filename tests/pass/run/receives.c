/* SPDX-License-Identifier: Apache-2.0
 * Receives that are started together: how many, what arrives, and that buffers which overlap are
 * waited for. Nobody in this program could notice. */
// stock
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 100 };
static int together, failures;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    ++together;
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

static void check(int ok, const char *what) {
    if (!ok) {
        ++failures;
        fprintf(stderr, "wrong: %s\n", what);
    }
}

static void count(int wanted, const char *what) {
    check(together == wanted, what);
    together = 0;
}

#define APART __attribute__((noinline)) static

APART void into_table(int **places, int n) {
    for (int i = 0; i < n; ++i)
        MPI_Recv(places[i], 2, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each message has two numbers: the second place is the next one's first. */
APART void overlapping(int *all, int n) {
    for (int i = 0; i < n; ++i)
        MPI_Recv(&all[i], 2, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

APART int summed(int *all, const int *numbers, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += numbers[i]; /* perhaps one that the last message has brought */
        MPI_Recv(&all[i + 1], 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return sum;
}

APART void two(int *x, int *y, int n, MPI_Datatype type) {
    MPI_Recv(x, n, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(y, n, type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

APART void any(int *x, int *y, int *tags, int *length) {
    MPI_Status first, second;
    MPI_Recv(x, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first);
    MPI_Recv(y, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second);
    tags[0] = first.MPI_TAG;
    tags[1] = second.MPI_TAG;
    MPI_Get_count(&second, MPI_INT, length);
}

APART void both_ways(int *out, int *in, int other) {
    MPI_Send(out, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(void) {
    int numbers[MANY + 2] = {0}, *places[MANY];
    for (int i = 0; i < MANY; ++i)
        places[i] = &numbers[i == 7 ? 6 : i + i % 2];
    into_table(places, MANY);
    count(MANY, "receives of a loop");
    check(numbers[6] == 7 && numbers[7] == 1007 && numbers[99] == 1098, "numbers of a loop");

    overlapping(numbers, MANY);
    count(MANY, "overlapping receives");
    for (int i = 0; i < MANY; ++i)
        check(numbers[i] == i, "the later message stays");

    for (int i = 0; i <= MANY; ++i)
        numbers[i] = 0;
    check(summed(numbers, numbers, MANY) == (MANY - 2) * (MANY - 1) / 2, "what was just received is read");
    count(MANY, "receives between reads");

    MPI_Datatype every_other;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    two(numbers, numbers + 4, 1, every_other);
    count(2, "receives of a derived type");
    check(numbers[0] == 1 && numbers[2] == 1 && numbers[4] == 2 && numbers[8] == 2, "derived type");
    two(numbers, numbers + 1, 0, MPI_INT);
    two(numbers, numbers, 1, MPI_INT);
    check(numbers[0] == 2, "the same buffer twice");
    count(4, "receives into one buffer");
    MPI_Type_free(&every_other);

    int tags[2], length;
    any(numbers, numbers + 50, tags, &length);
    count(2, "receives from any");
    check(tags[0] == 8 && tags[1] == 9 && length == 3 && numbers[0] == 80 && numbers[50] == 90,
          "messages from anybody come in order, with their statuses");
}

static void send(void) {
    int pair[2], three[6] = {1, 1, 1, 2, 2, 2};
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < MANY; ++i) {
            pair[0] = i;
            pair[1] = round < 2 ? 1000 + i : 0;
            MPI_Send(pair, round < 2 ? 2 : 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        }
    MPI_Send(three, 3, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(three + 3, 3, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Send(three, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(three, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Send(three, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(three + 3, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    const int eight[3] = {80}, nine[3] = {90};
    MPI_Send(eight, 2, MPI_INT, 1, 8, MPI_COMM_WORLD);
    MPI_Send(nine, 3, MPI_INT, 1, 9, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        receive();
    else
        send();
    /* The message that arrives would be sent, were they not compared. */
    int one[2] = {rank, 0};
    together = 0;
    both_ways(one, one, 1 - rank);
    check(one[0] == 1 - rank && together == 1, "both ways through one buffer");
    both_ways(one, one + 1, 1 - rank);
    check(one[1] == rank, "both ways");
    MPI_Finalize();
    return failures != 0;
}
