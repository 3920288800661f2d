/* SPDX-License-Identifier: Apache-2.0
 * Calls that are waited for where they stand, and windows that end early. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { N = 1000 };
extern atomic_int flag;
extern volatile int seen;
extern MPI_Status kept;
extern double *shown;
extern pthread_mutex_t lock;
double ghost[64], out[64], field[N], next[N];
void touch(void);

static inline void work(void) {
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
}

int error_used(int to) {
    const int error = MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: its error code is used, or it may throw
    work();
    return error;
}

void status_kept(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &kept); // missed: MPI_Recv of ghost is waited for where it stands: its status is kept
    work();
}

int status_read(int from) {
    MPI_Status status;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read (line +1)
    const int tag = status.MPI_TAG;
    work();
    return tag;
}

void synchronous(int to) {
    MPI_Ssend(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Ssend of out is waited for where it stands: it returns when its receiver has come
    work();
}

void absolute(int to, MPI_Datatype type) {
    MPI_Send(MPI_BOTTOM, 1, type, to, 0, MPI_COMM_WORLD); // missed: MPI_Send is waited for where it stands: its buffer is given by absolute addresses
    work();
}

void stored_atomically(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a write of flag (line +1)
    atomic_store(&flag, 1);
    work();
}

void fenced(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before an atomic operation (line +1)
    atomic_thread_fence(memory_order_release);
    work();
}

void stored_volatile(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a write of seen (line +1)
    seen = 1;
    work();
}

void unlocked(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of pthread_mutex_unlock (line +1)
    pthread_mutex_unlock(&lock);
    work();
}

void printed(int from) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of puts (line +1)
    puts("it has come");
    work();
}

void clock_read(int from, double *end) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of MPI_Wtime (line +1)
    *end = MPI_Wtime();
    work();
}

void probed(int to, int *there) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of MPI_Iprobe (line +1)
    MPI_Iprobe(to, 1, MPI_COMM_WORLD, there, MPI_STATUS_IGNORE);
    work();
}

void in_a_window(int to, MPI_Win window) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of MPI_Win_fence (line +1)
    MPI_Win_fence(0, window);
    work();
}

/* What arrived may be what allows it. */
void answer(int other) {
    MPI_Recv(ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of MPI_Send (line +1)
    MPI_Send(out, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before the function's end
}

void at_the_end(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of MPI_Finalize (line +1)
    MPI_Finalize();
}

double summed(int from) {
    double sum = 0;
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read of ghost (line +2)
    for (int i = 0; i < 64; ++i)
        sum += ghost[i];
    return sum;
}

/* Where this loop writes is known to nobody. */
void scattered(const int *where, double *all, double *mine, int to) {
    MPI_Send(mine, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send is waited for where it stands: nothing is to be done before a write (line +2)
    for (int i = 0; i < 64; ++i)
        all[where[i]] += 1;
}

/* Nobody would send on what it waits for. */
void endless(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a loop that may go on for ever
    for (;;)
        work();
}

void shown_before(int from) {
    double mine[64];
    shown = mine;
    MPI_Recv(mine, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a call of touch (line +1)
    touch();
    work();
}

__attribute__((noinline)) static void publish(double *x, int n) {
    for (int i = 0; i < n; ++i)
        x[i] = 0;
    atomic_store(&flag, n);
}
__attribute__((noinline)) void refill(double *x, int n) {
    for (int i = 0; i < n; ++i)
        x[i] = n - i;
}

void published(int to, double *x) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of publish (line +1)
    publish(x, to);
}

void refilled(int to) {
    MPI_Send(out, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of out is waited for where it stands: nothing is to be done before a call of refill (line +1)
    refill(out, 64);
}

/* In the next round others know of it. */
void show_it(double *x);
double *somewhere(void);
double shown_in_the_last_round(const int *places, int from, int rounds) {
    double own[64] = {0};
    for (int r = 0; r < rounds; ++r) {
        double *const known = somewhere();
        MPI_Recv(own, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a write (line +2)
        for (int i = 1; i < N; ++i)
            known[places[i]] = i;
        show_it(own);
    }
    return own[3];
}

MPI_Status *statuses[4];
int shown_status(int from) {
    MPI_Status own;
    statuses[1] = &own;
    touch();
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &own); // missed: MPI_Recv of ghost is waited for where it stands: its status is kept
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    return statuses[1]->MPI_TAG;
}

/* Known by then. */
int shown_status_behind(int from) {
    MPI_Status own;
    touch();
    MPI_Recv(ghost, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &own); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a read (line +3)
    statuses[1] = &own;
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + statuses[i % 4]->MPI_TAG;
    return own.MPI_TAG;
}

/* How long it is is known elsewhere. */
extern double elsewhere[512];
void looked_up(const int *places, double *x, int from) {
    MPI_Recv(x, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv is waited for where it stands: nothing is to be done before a read of elsewhere (line +2)
    for (int i = 0; i < N; ++i)
        elsewhere[places[i]] += i;
}
