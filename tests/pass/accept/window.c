/* SPDX-License-Identifier: Apache-2.0
 * Calls that are started where they stand and waited for later. */
#include <math.h>
#include <mpi.h>

enum { N = 1000 };
extern double *blocks[16];
double ghost[64], out[64], field[N], next[N];
void touch(void);

double straight(int from) {
    double sum = 0;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is waited for only before a read of ghost (line +4)
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    for (int i = 0; i < 64; ++i)
        sum += ghost[i];
    return sum;
}

void sent(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +3)
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + out[i % 64];
    touch();
}

/* Either end of the branch has a frontier of its own. */
void branches(int from, int last) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of ghost is waited for only before a read of ghost (line +5), and at 1 more
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    if (last)
        return;
    next[0] = ghost[0];
    touch();
}

/* Rows of one array: compared when the program runs. */
void halo(double *u, double *v, int n, int m, int left, int right) {
    MPI_Send(u + m, m, MPI_DOUBLE, left, 0, MPI_COMM_WORLD); // done: 4 sends and receives are started together and waited for once // done: MPI_Send is waited for only before the function's end; or before the loop in line +4, if it meets a buffer
    MPI_Send(u + (long)n * m, m, MPI_DOUBLE, right, 1, MPI_COMM_WORLD); // done: 4 sends and receives are started together and waited for once // done: MPI_Send is waited for only before the function's end; or before the loop in line +3, if it meets a buffer
    MPI_Recv(u, m, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 4 sends and receives are started together and waited for once // done: MPI_Recv is waited for only before the function's end; or before the loop in line +2, if it meets a buffer
    MPI_Recv(u + (long)(n + 1) * m, m, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 4 sends and receives are started together and waited for once // done: MPI_Recv is waited for only before the function's end; or before the loop in line +1, if it meets a buffer
    for (int i = 2; i < n; ++i)
        for (int j = 1; j < m - 1; ++j)
            v[i * (long)m + j] = u[(i - 1) * (long)m + j] + u[(i + 1) * (long)m + j] + u[i * (long)m + j - 1];
    for (int i = 1; i <= n; i += n - 1)
        for (int j = 1; j < m - 1; ++j)
            v[i * (long)m + j] = u[(i - 1) * (long)m + j] + u[(i + 1) * (long)m + j] + u[i * (long)m + j - 1];
}

void in_one_branch(int rank, int to) {
    if (rank > 0)
        MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +3)
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    touch();
}

void rare_call(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +4), and at 1 more
    for (int i = 1; i < N - 1; ++i) {
        next[i] = field[i - 1] + field[i + 1];
        if (next[i] < 0)
            touch();
    }
}

void steps(int other, int n) {
    for (int t = 0; t < n; ++t) {
        MPI_Send(out, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once // done: MPI_Send of out is waited for only before a read of ghost (line +5)
        MPI_Recv(ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once // done: MPI_Recv of ghost is waited for only before a read of ghost (line +4)
        for (int i = 1; i < N - 1; ++i)
            next[i] = field[i - 1] + field[i + 1];
        for (int i = 0; i < 64; ++i)
            out[i] = ghost[i] + next[i + 1];
    }
}

/* Not inlined: what they touch is known all the same. */
__attribute__((noinline)) void relax(double *restrict to, const double *from, int n) {
    for (int i = 1; i < n - 1; ++i)
        to[i] = from[i - 1] + from[i + 1];
}
__attribute__((noinline)) static void relax_all(void) {
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
}

void calls(int other) {
    MPI_Send(out, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once // done: MPI_Send of out is waited for only before a call of relax (line +3)
    MPI_Recv(ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once // done: MPI_Recv of ghost is waited for only before a call of relax (line +2)
    relax(next, field, N);
    relax(ghost, field, 64);
}

/* Nobody else knows where it is. */
double own_memory(int other) {
    double mine[64];
    MPI_Recv(mine, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is waited for only before a read (line +2)
    relax_all();
    return mine[3];
}

void roots(int other, double *x) {
    MPI_Send(out, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // done: MPI_Send of out is waited for only before a call of touch (line +3)
    for (int i = 0; i < N; ++i)
        next[i] = pow(x[i], field[i]);
    touch();
}

/* Nobody knows of the buffer and of the status before they are shown. */
void show(double *x, MPI_Status *status);
double shown_later(const int *places, int from) {
    double own[64];
    MPI_Status status;
    double *const known = blocks[3];
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // done: MPI_Recv is waited for only before a call of show (line +3)
    for (int i = 1; i < N; ++i)
        known[places[i]] = i;
    show(own, &status);
    return own[3] + status.MPI_TAG;
}

/* The inner loop goes as far as the outer one is. */
void triangle(double *u, double *v, long n, int from) {
    MPI_Recv(u + n * n, n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is waited for only before a call of touch (line +4); or before the loop in line +1, if it meets a buffer
    for (long i = 0; i < n; ++i)
        for (long j = 0; j < i; ++j)
            v[i * n + j] = u[i * n + j] * 2;
    touch();
}

void upper_triangle(double *u, double *v, int n, int from) {
    MPI_Recv(u, n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is waited for only before a call of touch (line +4); or before the loop in line +1, if it meets a buffer
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            v[(long)i * n + j] = v[(long)j * n + i] + 1;
    touch();
}

/* Wherever it is in the table. */
double table[512];
void looked_up(const int *places, double *x, int from) {
    MPI_Recv(x, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is waited for only before a call of touch (line +3); or before the loop in line +1, if it meets a buffer
    for (int i = 0; i < N; ++i)
        table[places[i]] += i;
    touch();
}
