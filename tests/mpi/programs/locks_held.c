/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # its tasks wait in TSan's own pthread_once
 * test:
 * chaos: number=35
 * Tasks that hold something of their thread's across MPI calls, as programs for
 * MPI_THREAD_SERIALIZED do: a mutex of each kind, a read-write lock, a semaphore; a communicator
 * that the first one makes in pthread_once; a condition variable that the task of a message
 * signals; a token while it tests once. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

enum { tasks = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static int exchange(int value, MPI_Comm comm) {
    int other = -1;
    MPI_Sendrecv(&value, 1, MPI_INT, next(), 0, &other, 1, MPI_INT, previous(), 0, comm,
                 MPI_STATUS_IGNORE);
    return other;
}

/* Whose turn it is differs between ranks, so what comes is counted only. */
static void hold_mutex(int i) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(exchange(i, MPI_COMM_WORLD) >= 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void hold_recursive(int i) {
    static int inside;
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(inside++ == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(exchange(i, MPI_COMM_WORLD) >= 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(--inside == 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
}

static void hold_for_writing(int i) {
    CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
    CHECK(exchange(i, MPI_COMM_WORLD) >= 0);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
}

static void hold_token(int i) {
    CHECK(sem_wait(&semaphore) == 0);
    CHECK(exchange(i, MPI_COMM_WORLD) >= 0);
    CHECK(sem_post(&semaphore) == 0);
}

static MPI_Comm made = MPI_COMM_NULL;
static void make(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
}

static void use_made(int i) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, make) == 0);
    CHECK(made != MPI_COMM_NULL);
    CHECK(exchange(i, made) >= 0);
}

static void in_tasks(void (*body)(int)) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task
        body(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A task of each message tells the task that waits for it. */
static void tell_of_messages(void) {
    static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
    static int here[tasks];
    static int begun;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task
        {
            int other = -1;
#pragma omp atomic
            ++begun;
            MPI_Sendrecv(&i, 1, MPI_INT, next(), i, &other, 1, MPI_INT, previous(), i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(other == i);
            CHECK(pthread_mutex_lock(&mutex) == 0);
            here[i] = 1;
            CHECK(pthread_cond_broadcast(&arrived) == 0);
            CHECK(pthread_mutex_unlock(&mutex) == 0);
        }
        int count;
        do { /* else all threads may wait for tasks that have not begun */
#pragma omp taskyield
#pragma omp atomic read
            count = begun;
        } while (count <= i);
        if (i % 2) {
#pragma omp task
            {
                CHECK(pthread_mutex_lock(&mutex) == 0);
                while (!here[i])
                    CHECK(pthread_cond_wait(&arrived, &mutex) == 0);
                CHECK(pthread_mutex_unlock(&mutex) == 0);
            }
        }
    }
}

/* Tasks that test once each are in no loop: none is set aside for another one. */
static void test_once_each(void) {
    static int inside;
    int told = 0;
    MPI_Request request;
    MPI_Irecv(&told, 1, MPI_INT, previous(), tasks, MPI_COMM_WORLD, &request);
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < 5 * tasks; ++i) {
#pragma omp task shared(request)
        {
            int arrived;
            CHECK(inside++ == 0);
            CHECK(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE) == MPI_SUCCESS && !arrived);
            CHECK(--inside == 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&(int){1}, 1, MPI_INT, next(), tasks, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(told == 1);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&recursive, &attributes) == 0);
    CHECK(sem_init(&semaphore, 0, 2) == 0);
    in_tasks(hold_mutex);
    in_tasks(hold_recursive);
    in_tasks(hold_for_writing);
    in_tasks(hold_token);
    in_tasks(use_made);
    tell_of_messages();
    test_once_each();
    MPI_Comm_free(&made);
    MPI_Finalize();
    return 0;
}
