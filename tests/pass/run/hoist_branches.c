/* SPDX-License-Identifier: Apache-2.0
 * Receives in branches are started before a loop in front of them, if the branch will be taken, and
 * in their order: one behind another that is not started early is not, either, unless the function
 * does not come to that one. */
// stock
// suspensions: 0
#include "eager.h"

enum { WIDTH = 50, TAG = 4 };
#define APART __attribute__((noinline))
static double field[4][WIDTH], next[WIDTH];
static int rank;
static volatile int nothing; /* the compiler does not know that */
static struct {
    int below, above;
} there;

static void receive(double *row) {
    MPI_Recv(row, WIDTH, MPI_DOUBLE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Of a domain that has a neighbour, or none, on either side. */
APART static double sides(double *lower, double *upper, const double *source, double *target,
                          int below, int above, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    if (below >= 0)
        MPI_Recv(lower, WIDTH, MPI_DOUBLE, below, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (above >= 0)
        MPI_Recv(upper, WIDTH, MPI_DOUBLE, above, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (below >= 0)
        sum += lower[3];
    if (above >= 0)
        sum += upper[3] * 10;
    return sum;
}

/* The same from memory that the loop does not write, and one in both cases. */
APART static double either(double *to, double *another, const double *source, int n, int last) {
    for (int i = 0; i < n; ++i)
        next[i] = source[i] * 2;
    if (there.below)
        receive(to);
    else
        receive(another);
    if (last)
        receive(to + WIDTH);
    return to[3] + another[3] * 10 + to[WIDTH + 3] * 100;
}

/* What the inner condition reads is there only if the outer one holds. */
APART static double nested(const int *wanted, const double *source, double *target, int n) {
    double own[WIDTH] = {0};
    own[3] = 7;
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    if (wanted) {
        if (*wanted)
            receive(own);
    }
    return own[3];
}

/* So is what is divided by. */
APART static double divided(int parts, double *to, const double *source, double *target, int n) {
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    if (parts != 0)
        MPI_Recv(to, WIDTH / parts, MPI_DOUBLE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return to[3];
}

/* If there is no message, there is no datatype. */
APART static double typed(MPI_Datatype type, int some, double *to, const double *source,
                          double *target, int n) {
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    if (some)
        MPI_Recv(to, WIDTH, type, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return to[3];
}

/* What allows the second one is received before. */
APART static double told(double *first, double *second, const double *source, double *target, int n) {
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    receive(first);
    if (first[0] > 100)
        receive(second);
    return first[3] + second[3] * 10;
}

/* The message must be off what either loop touches. */
APART static double twice(double *to, double *source, double *target, int n, int peer) {
    for (int i = 0; i < n; ++i)
        target[i] = source[i] * 2;
    for (int i = 0; i < n; ++i)
        source[i] = source[WIDTH + i] + target[i];
    MPI_Recv(to, WIDTH, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return to[3];
}

static void send(int messages) {
    double row[WIDTH];
    for (int i = 1; i <= messages; ++i) {
        for (int k = 0; k < WIDTH; ++k)
            row[k] = i;
        MPI_Send(row, WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    }
}

static void begin(void) {
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < WIDTH; ++k)
            field[i][k] = 7;
    for (int k = 0; k < WIDTH; ++k)
        next[k] = -1;
    eager_early = 0;
    eager_look = &next[WIDTH - 1];
}

static int failures, number;
static void check(double found, double wanted, int early) {
    eager_look = NULL;
    ++number;
    if (found != wanted || eager_early != early) {
        fprintf(stderr, "%d: %g, not %g; %d early, not %d\n", number, found, wanted, eager_early,
                early);
        failures = 1;
    }
}

static void receive_all(void) {
    const int yes = nothing, no = nothing - 1, n = WIDTH + nothing;
    const struct {
        int below, above, early;
        double sum;
    } cases[] = {{yes, yes, 2, 21}, {yes, no, 1, 1}, {no, yes, 1, 10}, {no, no, 0, 0}};
    for (int i = 0; i < 4; ++i) {
        begin();
        check(sides(field[0], field[1], field[3], next, cases[i].below, cases[i].above, n),
              cases[i].sum, cases[i].early);
        /* The loop reads the first row: the second is not received before it. */
        begin();
        check(sides(field[3], field[1], field[3], next, cases[i].below, cases[i].above, n),
              cases[i].sum, cases[i].below == yes ? 0 : cases[i].early);
        begin();
        check(sides(field[0], field[3], field[3], next, cases[i].below, cases[i].above, n),
              cases[i].sum, cases[i].below == yes);
    }
    for (int below = 0; below < 2; ++below)
        for (int last = 0; last < 2; ++last) {
            there.below = below + nothing;
            begin();
            check(either(field[0], field[2], field[3], n, last + nothing),
                  (below ? 1 + 70 : 7 + 10) + (last ? 200 : 700), 1 + last);
        }
    const int wanted[] = {0, 1};
    for (int i = 0; i < 3; ++i) {
        begin();
        check(nested(i < 2 ? &wanted[i + nothing] : NULL, field[3], next, n),
              i == 1 ? 1 : 7, 0);
    }
    for (int i = 0; i < 2; ++i) {
        begin();
        check(divided(i + nothing, field[0], field[3], next, n), i == 1 ? 1 : 7, 0);
    }
    for (int i = 0; i < 2; ++i) {
        begin();
        check(typed(i ? MPI_DOUBLE : MPI_DATATYPE_NULL, i + nothing, field[0], field[3], next, n),
              i ? 1 : 7, 0);
    }
    for (int row = 0; row < 4; ++row) {
        begin();
        check(twice(field[row + nothing], field[1], next, n, yes), 1, row == 0 || row == 3);
        eager_look = NULL;
        failures |= row != 1 && field[1][5] != 7 + 14;
        failures |= next[5] != 14;
    }
    begin();
    check(told(field[0], field[1], field[3], next, n), 1 + 70, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 3; ++i) /* of both, of one, of the other */
            send(2);
        for (int i = 0; i < 6; ++i)
            send(1);
        for (int below = 0; below < 2; ++below)
            for (int last = 0; last < 2; ++last)
                send(1 + last);
        for (int i = 0; i < 8; ++i)
            send(1);
    } else {
        receive_all();
    }
    MPI_Finalize();
    return failures;
}
