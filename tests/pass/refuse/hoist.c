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
void keep(double *x);

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
        next[i] = field[i] * 2;
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -5: the function may not come to it // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double others_notice(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    atomic_store(&flag, 1);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a write of flag (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

double behind_a_send(int to, int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Ssend(other, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Ssend of other is waited for where it stands: it returns when its receiver has come
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a call of MPI_Ssend (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* Its buffer is known only behind the loop. */
double unknown_before(int from) {
    double *last = other;
    touch();
    for (int i = 0; i < N; ++i) {
        next[i] = field[i] * 2;
        if (field[i] > 2)
            last = values;
    }
    MPI_Recv(last, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -5: what it is given is not known there // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
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

/* What is sent was there before. */
double sent_before(int to, int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Send(ghost, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of ghost is waited for where it stands: nothing is to be done before a call of MPI_Recv (line +1)
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a call of MPI_Send (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* Its datatype may be none. */
double sent_perhaps(double *u, int to, int from, MPI_Datatype type) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (to >= 0)
        MPI_Send(u, 1, type, to, 0, MPI_COMM_WORLD); // done: MPI_Send is waited for only before a read (line +2)
    MPI_Recv(u + N, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -4: a call of MPI_Send (line -1) // done: MPI_Recv is waited for only before a read (line +1)
    return u[N];
}

/* What is sent is known only behind the loop. */
double sent_somewhere(double *u, int to, int from) {
    long last = 0;
    touch();
    for (int i = 0; i < N; ++i) {
        next[i] = field[i] * 2;
        if (field[i] > 2)
            last = i;
    }
    MPI_Send(u + last, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once
    MPI_Recv(u, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -6: what it is given is not known there // done: 2 sends and receives are started together and waited for once
    return u[N];
}

/* Another receive may be the one whose message comes first. */
double received_before(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    const int error = MPI_Recv(other, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of other is waited for where it stands: its error code is used, or it may throw
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a call of MPI_Recv (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3] + error;
}

double received_without_waiting(int from) {
    double own[64];
    MPI_Request request;
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Irecv(other, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -3: a call of MPI_Irecv (line -1) // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
    const double x = own[3];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return x;
}

/* It would find no message. */
double probed(int from) {
    MPI_Status status;
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Probe(from, 0, MPI_COMM_WORLD, &status);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a call of MPI_Probe (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* What is received may still be on its way out. */
double still_sent(int to, int from) {
    double own[64];
    MPI_Request request;
    keep(own);
    MPI_Isend(own, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -3: a call of MPI_Wait (line -1) // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
    return own[3];
}

/* Its arguments are written in between. */
int peer;
double unknown_peer(void) {
    touch();
    for (int i = 0; i < N; ++i)
        if (field[i] > 2)
            peer = i;
    MPI_Recv(ghost, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: a write of peer (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* The loop is over before the next one begins. */
double behind_other_rounds(int rounds, int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    double sum = 0;
    for (int r = 0; r < rounds; ++r) {
        MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: each round receives into the same memory
        sum += ghost[3];
    }
    return sum;
}

/* It may go on for ever. */
double endless_before(int from, double x) {
    touch();
    for (;;) {
        x = x * x - 2;
        if (x < 0)
            break;
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -5: it may go on for ever // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3] + x;
}

/* Its status is where the loop reads. */
double status_before(int from) {
    MPI_Status status[64];
    double sum = 0;
    for (int i = 0; i < 64; ++i)
        MPI_Recv(&other[i], 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status[i]); // done: the receives of this loop are started together and waited for behind it
    for (int i = 0; i < 64; ++i)
        sum += status[i].MPI_TAG;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status[0]); // missed: MPI_Recv of ghost is not started before the loop in line -2: a read (line -1) // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return sum + ghost[3] + status[0].MPI_TAG;
}

/* From whom is known only behind the branch. */
double chosen(int from, int some) {
    int number;
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (some > 3) {
        other[3] = next[some];
        number = from;
    } else {
        other[2] = next[from];
        number = peer;
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, number, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -9: what it is given is not known there // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* How many there are is received, too. */
int length;
double announced(int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Recv(&length, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of length is started before the loop in line -2
    MPI_Recv(ghost, length, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -3: what it is given is not known there // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* The status is received over. */
double status_received_over(int from) {
    MPI_Status status;
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // missed: MPI_Recv of ghost is not started before the loop in line -2: its status may be in a buffer // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of MPI_Recv (line +1)
    MPI_Recv(&status, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -3: its status may be in a buffer // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
    return ghost[3] + status.MPI_TAG;
}

/* What is sent is known only in the branch. */
double sent_from_somewhere(double *u, int to, int from) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (to >= 0)
        MPI_Send(u + (long)to * to, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is waited for only before a read (line +2)
    MPI_Recv(u, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -4: a call of MPI_Send (line -1) // done: MPI_Recv is waited for only before a read (line +1)
    return u[3];
}

static double seek(double x) __attribute__((noinline));
static double seek(double x) {
    for (;;) {
        x = x * x - 2;
        if (x < 0)
            return x;
    }
}

double called_for_ever(int from, double x) {
    touch();
    x = seek(x);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3] + x;
}

static void announce(double *x, int n) __attribute__((noinline));
static void announce(double *x, int n) {
    for (int k = 0; k < n; ++k)
        x[k] *= 2;
    atomic_store(&flag, 1);
}

double called_to_be_noticed(int from) {
    touch();
    announce(next, N);
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +1)
    return ghost[3];
}

/* It is started before the loop in its branch. The next one would come first. */
double not_above_a_branch(int from, int some, MPI_Datatype type) {
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (some > 3) {
        for (int i = 0; i < N; ++i)
            next[i] += field[i] * some;
        MPI_Recv(other, 64, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of other is started before the loop in line -2
    }
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is not started before the loop in line -4: nor is a receive in front of it // done: MPI_Recv of ghost is waited for only before a read of ghost (line +1)
    return ghost[3];
}

/* What the condition reads is there only in the branch. */
double in_a_branch_of_a_branch(int from, const int *wanted) {
    double own[64] = {0};
    touch();
    for (int i = 0; i < N; ++i)
        next[i] = field[i] * 2;
    if (wanted)
        if (*wanted)
            MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is not started before the loop in line -4: the function may not come to it // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read (line +1)
    return own[3];
}
