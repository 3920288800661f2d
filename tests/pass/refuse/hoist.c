/* SPDX-License-Identifier: Apache-2.0
 * Receives that are not started earlier than they stand. */
#include <mpi.h>
#include <stdatomic.h>

enum { N = 1000 };
double ghost[64], other[64], field[N], next[N];
double *values;
_Atomic int flag;
volatile int device;
void touch(void);

/* It reads what was there before the message. */
double read_before(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = ghost[i % 64] + field[i];
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -2: a read of ghost (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double written_before(int from, const int *places) {
    touch();
    for (int i = 0; i < N; ++i)
        values[places[i]] = i;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -2: a write (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* There is none if the loop is left. */
double skipped(int from) {
    touch();
    for (int i = 0; i < N; ++i) {
        if (field[i] < 0)
            return 0;
        next[i] = field[i];
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double others_notice(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i];
    atomic_store(&flag, 1);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double behind_a_send(int to, int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i];
    MPI_Ssend(other, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Ssend of other is waited for where it stands: it returns when its receiver has come
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* Its buffer is known only behind the loop. */
double unknown_before(int from) {
    double *last = other;
    touch();
    for (int i = 0; i < N; ++i) {
        next[i] = field[i];
        if (field[i] > 2)
            last = values;
    }
    MPI_Recv(last, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
    return last[3];
}

static void quiet(double *x, const double *y, int n) __attribute__((noinline));
static void quiet(double *x, const double *y, int n) {
    for (int k = 0; k < n; ++k)
        x[k] = y[k] * 2;
}

double called_before(int from) {
    touch();
    quiet(ghost, field, 64);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before a call of quiet (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double watched_device(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        device = i;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -2: a write of device (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}
