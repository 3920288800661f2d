/* SPDX-License-Identifier: Apache-2.0
 * Receives that are started before a loop and before the sends behind it. Nothing waits for them
 * where they are started: their messages are answers. */
// stock
// suspensions: 0
#include "eager.h"

enum { ROWS = 10, WIDTH = 50, TAG = 4, MANY = 10, EARLY_MOST = 8 };
#define APART __attribute__((noinline))
static struct {
    int peer, tag;
} other = {0, TAG};
static double field[ROWS][WIDTH], next[ROWS][WIDTH], rows[MANY][WIDTH];
static int rank;
static volatile int nothing; /* the compiler does not know that */

/* What the loop writes has been sent before: that is waited for in front of the loop. */
APART static double answered(double *out, const double *source, int n) {
    double ghost[WIDTH];
    MPI_Send(out, n, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
        out[i] = source[i] * 2 + 1;
    MPI_Send(out, n, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD);
    MPI_Recv(ghost, n, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return ghost[0] + ghost[n - 1];
}

/* It may be the row that is sent. */
APART static void exchange(double (*u)[WIDTH], double (*v)[WIDTH], int n, int sent, int received) {
    for (int i = 2; i < n; ++i)
        for (int k = 0; k < WIDTH; ++k)
            v[i][k] = u[i][k] * 0.5 + 1;
    MPI_Send(u[sent], WIDTH, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD);
    MPI_Recv(u[received], WIDTH, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Receives keep their order, whatever is sent between them. */
APART static void in_order(double (*u)[WIDTH], double (*v)[WIDTH], int n, int first, int sends,
 int peer) {
    for (int i = 2; i < n; ++i)
        for (int k = 0; k < WIDTH; ++k)
            v[i][k] = u[i][k] * 0.5 + 1;
    if (first)
        MPI_Send(next[0], WIDTH, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(rows[0], WIDTH, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < sends; ++i)
        MPI_Send(next[0], WIDTH, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(rows[1], WIDTH, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#define RECEIVE(row)                                                                               \
    MPI_Recv(rows[row], WIDTH, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD, &status[row])

/* More than can be started early. */
APART static int many(const double *source, double *target, int n) {
    MPI_Status status[MANY];
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    MPI_Send(&source[0], 1, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD);
    RECEIVE(0), RECEIVE(1), RECEIVE(2), RECEIVE(3), RECEIVE(4);
    RECEIVE(5), RECEIVE(6), RECEIVE(7), RECEIVE(8), RECEIVE(9);
    for (int i = 0; i < MANY; ++i)
        wrong |= status[i].MPI_SOURCE != other.peer || status[i].MPI_TAG != other.tag;
    return wrong;
}

/* What is sent may still be on its way, and both may be received into the same row. */
APART static void behind(const double *out, const double *source, double *target, double *ghost,
                         double *another, int n, int peer) {
    MPI_Send(out, n, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    MPI_Recv(ghost, n, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(another, n, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each round has room for its own. */
APART static double each_round(const double *source, double *target, double *ghost, int rounds,
                               int n, int peer) {
    double sum = 0;
    for (int r = 0; r < rounds; ++r) {
        target[0] = -1;
        for (int i = 0; i < n; ++i)
            target[i] = source[i] * 2;
        MPI_Recv(ghost, n, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += ghost[0];
    }
    return sum;
}

static void begin(void) {
    for (int i = 0; i < ROWS; ++i)
        for (int k = 0; k < WIDTH; ++k) {
            field[i][k] = rank * 1000 + i * 10;
            next[i][k] = -1;
        }
    eager_early = 0;
    eager_look = &next[2][0];
}

static int differs(int early) {
    eager_look = NULL;
    if (eager_early != early)
        fprintf(stderr, "rank %d: %d early, not %d\n", rank, eager_early, early);
    return eager_early != early;
}

/* When the other rank has sent twice. */
static void answer(void) {
    double sent[2][WIDTH];
    MPI_Recv(sent[0], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(sent[1], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent[1][0] += sent[0][1];
    MPI_Send(sent[1], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other.peer = 1 - rank;
    begin();
    if (rank == 0) {
        answer();
    } else {
        const double sum = answered(next[2], field[3], WIDTH + nothing);
        failures |= sum != -1 + 2 * (1030 * 2 + 1) || differs(1);
    }

    begin();
    exchange(field, next, ROWS + nothing, 1 + nothing, 0 + nothing);
    failures |= (field[0][7] != (1 - rank) * 1000 + 10 || differs(1)) << 1;
    begin();
    exchange(field, next, ROWS + nothing, 1 + nothing, 1 + nothing);
    failures |= (field[1][7] != (1 - rank) * 1000 + 10 || differs(0)) << 2;
    begin();
    exchange(field, next, ROWS + nothing, 1 + nothing, 4 + nothing);
    failures |= (field[4][7] != (1 - rank) * 1000 + 10 || differs(0) ||
                 next[4][7] != (rank * 1000 + 40) * 0.5 + 1)
                << 3;

    for (int sends = 0; sends < 3; ++sends) {
        begin();
        next[0][0] = 1;
        if (rank == 0) {
            for (int i = 0; i < 2; ++i)
                MPI_Send(field[i], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            for (int i = 0; i < (sends > 0) + sends; ++i)
                MPI_Recv(next[0], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            in_order(field, next, ROWS + nothing, (sends > 0) + nothing, sends + nothing, other.peer);
            failures |= (rows[0][7] != 0 || rows[1][7] != 10 || differs(2)) << 4;
        }
    }

    begin();
    if (rank == 0) {
        MPI_Recv(next[0], 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; ++i)
            MPI_Send(field[i], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    } else {
        failures |= many(field[3], next[2], WIDTH + nothing) << 5;
        failures |= differs(EARLY_MOST) << 6;
        for (int i = 0; i < MANY; ++i)
            failures |= (rows[i][7] != i * 10) << 7;
    }

    const struct {
        int ghost, another, early;
    } cases[] = {{5, 6, 2}, {0, 5, 0}, {5, 0, 1}, {5, 5, 1}};
    for (int i = 0; i < 4; ++i) {
        begin();
        if (rank == 0) {
            MPI_Recv(next[0], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(field[7], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            MPI_Send(field[8], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            failures |= (next[0][7] != 1000) << 6;
        } else {
            const int ghost = cases[i].ghost + nothing, another = cases[i].another + nothing;
            behind(field[0], field[3], next[2], field[ghost], field[another], WIDTH + nothing,
 0 + nothing);
            failures |= (field[another][7] != 80 || differs(cases[i].early)) << 7;
            failures |= (ghost != another && field[ghost][7] != 70) << 7;
        }
    }

    begin();
    if (rank == 0) {
        for (int i = 0; i < 3 * EARLY_MOST; ++i)
            MPI_Send(field[i % 2], WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    } else {
        const double sum = each_round(field[3], next[2], rows[0], 3 * EARLY_MOST + nothing,
                                      WIDTH + nothing, 0 + nothing);
        failures |= (sum != 10 * 3 * EARLY_MOST / 2 || differs(3 * EARLY_MOST)) << 7;
    }
    MPI_Finalize();
    return failures;
}
