/* SPDX-License-Identifier: Apache-2.0
 * Windows: what is computed while a message is under way, and what has to wait for it. Here nothing
 * moves before it is waited for. */
// stock
#include "lazy.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 64, ROWS = 12, COLUMNS = 10 };
static double ghost[N], out[N], field[N], next[N];
static int rank, failures;

static void check(int ok, const char *what) {
    if (!ok) {
        ++failures;
        fprintf(stderr, "rank %d, wrong: %s\n", rank, what);
    }
}

/* Not static: nothing is known of their callers. */
#define APART __attribute__((noinline))

static void send(const double *x, int n, int tag) {
    PMPI_Send(x, n, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD);
}
static void receive(double *x, int n, int tag) {
    PMPI_Recv(x, n, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

APART double crossed(int *under_way) {
    double sum = 0;
    MPI_Recv(ghost, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    *under_way = lazy_count;
    for (int i = 0; i < N; ++i)
        sum += ghost[i];
    return sum;
}

/* The message is what `out` was. */
APART void kept(int *under_way, int twice) {
    MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i)
        next[i] = out[i] * 2;
    *under_way = lazy_count;
    if (twice)
        return;
    for (int i = 0; i < N; ++i)
        out[i] = -1;
}

/* Whatever a and b point to. */
APART double strided(double *to, double *a, const double *b, int n, int stride, int length) {
    double sum = 0;
    MPI_Recv(to, length, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) {
        a[(long)i * stride] += 1;
        sum += b[-(long)i * stride];
    }
    return sum;
}

APART void stencil(double *u, double *v, int first, int last) {
    MPI_Send(u + COLUMNS, COLUMNS, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD);
    MPI_Recv(u, COLUMNS, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = first; i < last; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j)
            v[i * COLUMNS + j] = u[(i - 1) * COLUMNS + j] + u[(i + 1) * COLUMNS + j];
}

/* An index that begins anew. */
APART double wrapped(double *to, const double *from, int start, int n) {
    double sum = 0;
    MPI_Recv(to, 4, MPI_DOUBLE, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        sum += from[(unsigned char)(start + i)];
    return sum;
}

APART void with_errors(double *x, int n) {
    MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 9, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
        x[i] = exp(x[i]);
}

APART void copied(double *to, double *from, long bytes, double *message) {
    MPI_Send(message, N, MPI_DOUBLE, 1 - rank, 4, MPI_COMM_WORLD);
    memcpy(to, from, bytes);
    for (int i = 0; i < N; ++i)
        next[i] = field[i];
}

APART double absolute(double *here, MPI_Datatype type) {
    MPI_Recv(MPI_BOTTOM, 1, type, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; ++i)
        next[i] = field[i];
    return *here;
}

APART int with_status(void) {
    MPI_Status status;
    MPI_Recv(ghost, N, MPI_DOUBLE, 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    for (int i = 0; i < N; ++i)
        next[i] = field[i];
    return status.MPI_TAG;
}

APART void steps(int n) {
    for (int t = 0; t < n; ++t) {
        MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD);
        MPI_Recv(ghost, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < N - 1; ++i)
            next[i] = field[i - 1] + out[i + 1];
        for (int i = 0; i < N; ++i)
            out[i] = ghost[i] + next[i % 3 + 1];
    }
}

static double stencil_at(const double *u, int i, int j) {
    return u[(i - 1) * COLUMNS + j] + u[(i + 1) * COLUMNS + j];
}

static void stencils(void) {
    for (int first = 1; first < 3; ++first) {
        double u[ROWS * COLUMNS], v[ROWS * COLUMNS] = {0};
        for (int i = 0; i < ROWS * COLUMNS; ++i)
            u[i] = 1000 * rank + i;
        stencil(u, v, first, ROWS - 1);
        check(u[3] == 1000 * (1 - rank) + COLUMNS + 3, "the other's row");
        for (int i = first; i < ROWS - 1; ++i)
            for (int j = 1; j < COLUMNS - 1; ++j)
                check(v[i * COLUMNS + j] == stencil_at(u, i, j), "a stencil");
        /* In place: it writes the row that is sent. */
        for (int i = 0; i < ROWS * COLUMNS; ++i)
            u[i] = i;
        stencil(u, u + COLUMNS - COLUMNS * first, first, ROWS - 1);
        check(u[3] == COLUMNS + 3 || first == 1, "a row that is sent and written");
    }
}

static void one_way(int sends) {
    double numbers[4 * N] = {0}, message[N];
    int under_way = 0;
    for (int i = 0; i < N; ++i)
        message[i] = out[i] = i + 1;
    if (sends) {
        send(message, N, 0);
        kept(&under_way, 0);
        check(under_way == 1 && out[0] == -1, "a send is under way");
        out[0] = 1;
        kept(&under_way, 1);
        check(lazy_count == 0, "each way waits");
        for (int stride = 1; stride < 4; ++stride)
            for (int at = 0; at < 3 * N; at += 5)
                send(message, 7, 2);
        for (int at = 0; at < 3 * N; at += 5) {
            for (int i = 0; i < 4 * N; ++i)
                numbers[i] = i;
            copied(numbers + at, numbers + 2 * N, 8 * sizeof(double), numbers + N);
        }
        send(message, 4, 8);
        send(message, 4, 8);
        message[0] = 1000;
        errno = 0;
        const int started = lazy_started;
        with_errors(message, 1);
        check(errno == ERANGE && lazy_started > started, "an error behind a message");
        message[0] = 1;
        send(message, 1, 5);
        send(message, N, 6);
        return;
    }
    const double sum = crossed(&under_way);
    check(under_way == 1 && sum == N * (N + 1) / 2, "a receive is under way");
    receive(ghost, N, 1);
    check(ghost[0] == 1 && ghost[N - 1] == N, "a message as it was");
    receive(ghost, N, 1);
    check(ghost[0] == 1 && ghost[1] == -1, "another as it was");
    for (int stride = 1; stride < 4; ++stride)
        for (int at = 0; at < 3 * N; at += 5) {
            double mine[4 * N], theirs[4 * N], wanted = 0;
            for (int i = 0; i < 4 * N; ++i)
                mine[i] = theirs[i] = i * 10;
            const double found =
                strided(mine + at, mine + 5, mine + 3 * N, 20, stride, 7);
            memcpy(theirs + at, message, 7 * sizeof(double));
            for (int i = 0; i < 20; ++i) {
                theirs[5 + i * stride] += 1;
                wanted += theirs[3 * N - i * stride];
            }
            check(found == wanted && memcmp(mine, theirs, sizeof mine) == 0, "strides");
        }
    for (int at = 0; at < 3 * N; at += 5) {
        receive(ghost, N, 4);
        int bad = 0;
        for (int i = 0; i < N; ++i)
            bad += ghost[i] != N + i;
        check(bad == 0, "a message as it was before a copy");
    }
    for (int i = 0; i < 4 * N; ++i)
        numbers[i] = 0;
    check(wrapped(numbers, numbers, 4, 200) == 0 && lazy_count == 0, "an index that stays");
    check(wrapped(numbers, numbers, 250, 8) == 1 + 2, "an index that begins anew");
    receive(ghost, N, 9);
    MPI_Datatype type;
    MPI_Aint address;
    const int length = 1;
    MPI_Datatype number = MPI_DOUBLE;
    MPI_Get_address(&numbers[3], &address);
    MPI_Type_create_struct(1, &length, &address, &number, &type);
    MPI_Type_commit(&type);
    check(absolute(&numbers[3], type) == 1, "an absolute address");
    MPI_Type_free(&type);
    check(with_status() == 6, "a status");
}

static void both_ways(void) {
    for (int i = 0; i < N; ++i) {
        out[i] = rank * 100 + i;
        field[i] = i;
    }
    double mine[N], theirs[N];
    for (int i = 0; i < N; ++i) {
        mine[i] = out[i];
        theirs[i] = (1 - rank) * 100 + i;
    }
    steps(5);
    for (int t = 0; t < 5; ++t) {
        double a[N], b[N];
        for (int i = 0; i < N; ++i) {
            const int k = i % 3 + 1;
            a[i] = theirs[i] + field[k - 1] + mine[k + 1];
            b[i] = mine[i] + field[k - 1] + theirs[k + 1];
        }
        memcpy(mine, a, sizeof a);
        memcpy(theirs, b, sizeof b);
    }
    check(memcmp(mine, out, sizeof out) == 0, "steps");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one_way(rank == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    one_way(rank == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    stencils();
    both_ways();
    check(lazy_started > 50, "windows");
    MPI_Finalize();
    return failures != 0;
}
