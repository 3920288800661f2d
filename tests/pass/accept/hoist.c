/* SPDX-License-Identifier: Apache-2.0
 * Receives that are started earlier than they stand. */
#include <mpi.h>

enum { N = 1000 };
double ghost[64], other[64], out[64], field[N], next[N];
struct side {
    double *values;
    int count, peer;
} left, right;
void touch(void);
void keep(double *x);
int number;

double before_a_loop(int from) {
    touch();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -2
    return ghost[3];
}

/* In the order in which they stand; arguments are read earlier, too. */
double a_row(void) {
    touch();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    MPI_Recv(ghost, left.count, MPI_DOUBLE, left.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once // done: MPI_Recv of ghost is started before the loop in line -2
    MPI_Recv(other, right.count + 1, MPI_DOUBLE, right.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once // done: MPI_Recv of other is started before the loop in line -3
    return ghost[3] + other[3];
}

/* Rows of one array: compared when the program runs. */
double rows(double *u, double *v, int n, int m, int from) {
    touch();
    for (int i = 2; i < n; ++i)
        for (int j = 1; j < m - 1; ++j)
            v[i * (long)m + j] = u[(i - 1) * (long)m + j] + u[(i + 1) * (long)m + j];
    MPI_Recv(u, m, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is started before the loop in line -3
    return u[3];
}

__attribute__((noinline)) void blend(double *x, const double *y, int n) {
    for (int k = 0; k < n; ++k)
        x[k] = x[k] * 0.5 + y[k];
}

double before_a_call(int from) {
    MPI_Status status;
    touch();
    blend(next, field, N);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // done: MPI_Recv of ghost is started before a call of blend (line -1)
    return ghost[3] + status.MPI_TAG;
}

/* Before the branch in which there may be a loop. */
double before_a_branch(int from, int some) {
    touch();
    if (some > 3)
        for (int i = 1; i < some; ++i)
            next[i] = field[i - 1] * 2;
    else
        ++number;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -4
    return ghost[3];
}

double in_each_round(int rounds, int from) {
    double sum = 0;
    for (int r = 0; r < rounds; ++r) {
        for (int i = 1; i < N - 1; ++i)
            next[i] = field[i - 1] + field[i + 1];
        MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -2
        sum += ghost[3];
    }
    return sum;
}

/* What is sent is not what is received. */
double before_sends(int from, int to) {
    touch();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a read of ghost (line +6)
    if (to > 3)
        MPI_Send(other, 64, MPI_DOUBLE, to - 1, 0, MPI_COMM_WORLD); // done: MPI_Send of other is waited for only before a read of ghost (line +4)
    for (int i = 0; i < to; ++i)
        MPI_Send(out, 64, MPI_DOUBLE, i, 1, MPI_COMM_WORLD); // done: the sends of this loop are started together and waited for behind it
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -7
    return ghost[3];
}

/* Rows of one array are sent and received: compared when the program runs. */
double halo(double *u, double *v, int n, int m, int below, int above) {
    touch();
    for (int i = 2; i < n; ++i)
        for (int j = 1; j < m - 1; ++j)
            v[i * (long)m + j] = u[(i - 1) * (long)m + j] + u[(i + 1) * (long)m + j];
    MPI_Send(u + m, m, MPI_DOUBLE, below, 1, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once
    MPI_Recv(u, m, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once // done: MPI_Recv is started before the loop in line -4
    MPI_Send(u + n * (long)m, m, MPI_DOUBLE, above, 2, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once
    MPI_Recv(u + (n + 1) * (long)m, m, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once // done: MPI_Recv is started before the loop in line -6
    return u[3];
}

/* Nobody else knows of what is received before it is there. */
double before_a_wait(int from, int to) {
    double own[64];
    MPI_Request request;
    MPI_Isend(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is started before the loop in line -3
    keep(own);
    return own[3];
}

/* Each has its own. */
int statuses(int from, int which) {
    MPI_Status status[4];
    touch();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status[which]); // done: MPI_Recv of ghost is started before the loop in line -2
    return status[which].MPI_TAG;
}

/* The first one has to stay behind the loop that reads its buffer. So has the second, which is
 * started behind it. */
double not_above_the_first(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] + ghost[i % 64];
    for (int i = 1; i < N - 1; ++i)
        next[i] += field[i - 1] * 3;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once // done: MPI_Recv of ghost is started before the loop in line -2
    MPI_Recv(other, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once // done: MPI_Recv of other is started before the loop in line -3
    return ghost[3] + other[3];
}

/* If there is a neighbour. */
double in_branches(int below, int above) {
    double sum = 0;
    touch();
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    if (below >= 0)
        MPI_Recv(ghost, 64, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -3
    if (above >= 0)
        MPI_Recv(other, 64, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of other is started before the loop in line -5
    sum += ghost[3];
    return sum + other[3];
}

/* What both of them touch is compared. */
double two_loops(double *u, double *v, int n, int from) {
    touch();
    for (int i = 1; i < n; ++i)
        v[i] = u[i - 1] + u[i + 1];
    for (int i = 1; i < n; ++i)
        u[i] = v[i - 1] * 2;
    MPI_Recv(u + n + 1, 64, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is started before the loop in line -4
    return u[3];
}

/* If the first one is there, it is started first. */
double received_perhaps(int from, int some) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (some)
        MPI_Recv(other, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of other is started before the loop in line -3
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -4
    return ghost[3];
}

/* If the round has a message. */
double in_some_rounds(int rounds, int from) {
    double sum = 0;
    for (int r = 0; r < rounds; ++r) {
        for (int i = 0; i < N; ++i)
            next[i] = field[i] * 2;
        if (r % 3 == 0)
            MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -3
        sum += ghost[3];
    }
    return sum;
}

/* Above the loop in the branch, and above the branch. */
double received_in_a_branch(int from, int some) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (some > 3) {
        for (int i = 0; i < N; ++i)
            next[i] += field[i] * some;
        MPI_Recv(other, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of other is started before the loop in line -5
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is started before the loop in line -7
    return ghost[3];
}
