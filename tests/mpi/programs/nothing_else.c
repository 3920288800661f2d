/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2
 * chaos: number=36
 * A task may block its thread where nothing else could run on it. But something may be under way
 * outside of OpenMP that makes other tasks ready, and the message that is waited for depends on
 * those. */
#define _GNU_SOURCE
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <time.h>

static int peer;
static int ended, turn; /* for dependences */

static void pause_a_while(void) {
    const struct timespec time = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&time, NULL);
}

static void send(int tag) {
    MPI_Send(&tag, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
}

static void receive(int tag) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == tag);
}

static void *fulfil_late(void *event) {
    pause_a_while();
    omp_fulfill_event((omp_event_handle_t)event);
    return NULL;
}

/* Who sends comes behind a task that has ended and waits for its event. */
static void event_from_outside(void) {
    pthread_t thread;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task depend(out : ended) detach(event) shared(thread)
    CHECK(pthread_create(&thread, NULL, fulfil_late, (void *)event) == 0);
#pragma omp task depend(in : ended)
    send(1);
#pragma omp task
    receive(1);
#pragma omp taskwait
    CHECK(pthread_join(thread, NULL) == 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t locked;

static void *hold_for_a_while(void *arg) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    pthread_barrier_wait(&locked);
    pause_a_while();
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return arg;
}

/* Who sends waits for a lock of another thread's. */
static void lock_from_outside(void) {
    pthread_t thread;
    CHECK(pthread_barrier_init(&locked, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, hold_for_a_while, NULL) == 0);
    pthread_barrier_wait(&locked);
#pragma omp task
    {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        send(2);
    }
#pragma omp task
    receive(2);
#pragma omp taskwait
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_barrier_destroy(&locked);
}

/* A chain: only ever one task can run. */
static void alone(void) {
    for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : turn)
        {
            if (rank < peer)
                send(3);
            receive(3);
            if (rank > peer)
                send(3);
        }
    }
#pragma omp taskwait
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(ranks == 2);
    peer = 1 - rank;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 5; ++round) {
        event_from_outside();
        lock_from_outside();
        alone();
    }
    MPI_Finalize();
    return 0;
}
