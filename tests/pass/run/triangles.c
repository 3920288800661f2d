/* SPDX-License-Identifier: Apache-2.0
 * Loops whose inner ones go as far as the outer ones are, and loops that go through a table: what
 * they touch is compared with a buffer, wherever that is. Here nothing moves before it is waited
 * for. */
// stock
// suspensions: 0
#include "lazy.h"
#include <stdio.h>
#include <string.h>

enum { N = 9, LENGTH = 5, ALL = 3 * N * N };
#define APART __attribute__((noinline))
static double table[64];
static int rank, under_way;

APART static void lower(double *to, double *u, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
    under_way += lazy_count;
}

APART static void upper(double *to, double *u, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            u[i * N + j] = v[j * N + i] * 2 + u[i * N + j];
    under_way += lazy_count;
}

/* It may be left before, and the rounds of the outer loop may be none. */
APART static void left(double *to, double *u, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = n - 1; i >= 0; --i)
        for (int j = i; j < n; ++j) {
            if (v[i * N + j] < 0)
                break;
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
        }
    under_way += lazy_count;
}

/* Of a cube: each index goes as far as the one before. */
APART static void cube(double *to, double *u, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 0; i < n; ++i)
        for (long j = 0; j < i; ++j)
            for (long k = 0; k < j; ++k)
                u[i * N + j + k] = v[i * N + j - k] + u[i * N + j + k];
    under_way += lazy_count;
}

/* An index that begins anew: nothing is known of it, so the message is waited for first. */
APART static void around(double *to, double *u, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (unsigned i = 0; i < (unsigned)n; ++i)
        for (unsigned char j = (unsigned char)i; j != 4; ++j)
            u[j % N] = v[j % N + i] + u[j % N];
    under_way += lazy_count;
}

/* The last rounds begin behind the end: what ends them is what they read. */
APART static void beyond(double *to, double *u, const double *v, int n) {
    const size_t end = 2, rows = (size_t)n;
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = i; j != end; ++j) {
            if (v[i * N + j] < 0)
                break;
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
        }
    under_way += lazy_count;
}

APART static void looked_up(double *to, const int *places, const double *v, int n) {
    MPI_Recv(to, LENGTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        table[places[i]] = v[i] * 2 + table[places[i]];
    under_way += lazy_count;
}

/* What it leaves, if the message is waited for where it stands. */
static void by_hand(int which, double *u, const double *v, const int *places, int n) {
    for (int i = 0; i < n && which == 0; ++i)
        for (int j = 0; j < i; ++j)
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
    for (int i = 0; i < n && which == 1; ++i)
        for (int j = i + 1; j < n; ++j)
            u[i * N + j] = v[j * N + i] * 2 + u[i * N + j];
    for (int i = n - 1; i >= 0 && which == 2; --i)
        for (int j = i; j < n && v[i * N + j] >= 0; ++j)
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
    for (int i = 0; i < n && which == 3; ++i)
        for (int j = 0; j < i; ++j)
            for (int k = 0; k < j; ++k)
                u[i * N + j + k] = v[i * N + j - k] + u[i * N + j + k];
    for (int i = 0; i < n && which == 4; ++i)
        for (unsigned char j = (unsigned char)i; j != 4; ++j)
            u[j % N] = v[j % N + i] + u[j % N];
    for (size_t i = 0; i < (size_t)n && which == 5; ++i)
        for (size_t j = i; j != 2 && v[i * N + j] >= 0; ++j)
            u[i * N + j] = v[i * N + j] * 2 + u[i * N + j];
    for (int i = 0; i < n && which == 6; ++i)
        table[places[i]] = v[i] * 2 + table[places[i]];
}

static void begin(double *all) {
    for (int i = 0; i < ALL; ++i)
        all[i] = i % 13 - 1;
    for (int i = 0; i < 64; ++i)
        table[i] = i;
}

static int receives_everywhere(int which, int n) {
    static double all[ALL], wanted[ALL], own[64];
    int places[16], wrong = 0, wrong_table = 0;
    for (int i = 0; i < 16; ++i)
        places[i] = i * 29 % 64;
    under_way = 0;
    for (int at = 0; at + LENGTH <= ALL; at += 3) {
        begin(all);
        double *u = all + N, *v = all + N * N + N;
        void (*const forms[])(double *, double *, const double *, int) = {
            lower, upper, left, cube, around, beyond};
        double *to = which == 6 && at < 60 ? &table[at] : &all[at];
        if (which == 6)
            looked_up(to, places, v, n);
        else
            forms[which](to, u, v, n);
        memcpy(wanted, all, sizeof all);
        memcpy(own, table, sizeof own);
        begin(all);
        for (int i = 0; i < LENGTH; ++i)
            to[i] = 1000 + i;
        by_hand(which, u, v, places, n);
        wrong += memcmp(wanted, all, sizeof all) != 0;
        wrong_table += memcmp(own, table, sizeof own) != 0;
    }
    const int crossed = under_way > 0 || which == 4 || which == 5, always = under_way == (ALL - LENGTH) / 3 + 1;
    if (wrong || wrong_table || !crossed || (n > 3 && always))
        fprintf(stderr, "form %d, %d: %d and %d wrong, %d under way\n", which, n, wrong,
                wrong_table, under_way);
    return wrong || wrong_table || !crossed || (n > 3 && always);
}

int main(int argc, char **argv) {
    int failures = 0;
    const double message[LENGTH] = {1000, 1001, 1002, 1003, 1004};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int which = 0; which < 7; ++which)
        for (int n = 1; n < N; n += 3) {
            if (rank == 0)
                for (int at = 0; at + LENGTH <= ALL; at += 3)
                    PMPI_Send(message, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            else
                failures |= receives_everywhere(which, n) << which;
        }
    MPI_Finalize();
    return failures;
}
