/* SPDX-License-Identifier: Apache-2.0
 * build_once: if=rank_fibers -fPIE -pie -fopenmp -- {homecomings}
 * While the main flow of a rank fiber waits outside of MPI, other ranks go on. One processor for
 * all ranks: what a main flow waits for is done by another thread of the rank when the main flows
 * of all ranks have come as far. If one kept the processor's worker, none would ever.
 *
 * A flow that waits in OpenMP stays away from home, too. Else its kernel thread would have to be
 * switched to. So it is counted how often the flow comes home. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "homecomings.h"

/* MOST: the runtime starts a thread of its own once. */
enum { TIMES = 20, MOST = 2 };

static volatile int *steps; /* of each rank, in memory of all */
static int step;

static void hop(void) {
    int token = 0;
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
}

/* The other thread: until all ranks are there, and long enough for a flow to give up waiting awake.
 */
static void work(void) {
    for (int other = 0; other < ranks; ++other)
        while (steps[other] < step)
            usleep(100);
    usleep(3000);
}

static void region(int with_barrier) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            steps[rank] = step;
        else
            work();
        if (with_barrier) {
#pragma omp barrier
        }
    }
}
static void join(void) {
    region(0);
}
static void barrier(void) {
    region(1);
}

static omp_lock_t lock;
static void locked(void) {
#pragma omp parallel
    {
        const int other = omp_get_thread_num() == 1;
        if (other)
            omp_set_lock(&lock);
#pragma omp barrier
        if (other) {
            work();
        } else {
            steps[rank] = step;
            omp_set_lock(&lock);
        }
        omp_unset_lock(&lock);
    }
}

static void taskwait(void) {
    volatile int taken = 0;
#pragma omp parallel shared(taken)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task shared(taken)
            {
                taken = 1;
                if (omp_get_thread_num() != 0)
                    work();
            }
            while (!taken) {
#pragma omp taskyield
            }
            steps[rank] = step;
#pragma omp taskwait
        }
    }
}

/* What follows waits by the system's means. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int pipes[2];
static volatile int locked_by_other, over;

static void *hold(void *unused) {
    pthread_mutex_lock(&mutex);
    locked_by_other = 1;
    work();
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *tell(void *unused) {
    work();
    pthread_mutex_lock(&mutex);
    over = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    CHECK(write(pipes[1], "", 1) == 1);
    return unused;
}

/* wait(), while another thread runs `other`, and then for its end. */
static void with(void *(*other)(void *), void (*wait)(void)) {
    pthread_t thread;
    locked_by_other = over = 0;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    hop(); /* away from home */
    steps[rank] = step;
    wait();
    CHECK(pthread_join(thread, NULL) == 0);
}

static void in_mutex(void) {
    while (!locked_by_other)
        usleep(100);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void in_condition(void) {
    pthread_mutex_lock(&mutex);
    while (!over)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}
static void in_semaphore(void) {
    while (sem_wait(&semaphore) != 0)
        CHECK(errno == EINTR);
}
static void in_read(void) {
    char byte;
    CHECK(read(pipes[0], &byte, 1) == 1);
}
static void in_poll(void) {
    struct pollfd input = {.fd = pipes[0], .events = POLLIN};
    CHECK(poll(&input, 1, -1) == 1);
    in_read();
}
static void in_join(void) {}

static void system_waits(void) {
    void (*const waits[])(void) = {in_condition, in_semaphore, in_read, in_poll, in_join};
    CHECK(sem_init(&semaphore, 0, 0) == 0 && pipe(pipes) == 0);
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; ++i) {
        ++step;
        with(tell, waits[i]);
        if (waits[i] != in_semaphore)
            in_semaphore();
        if (waits[i] != in_read && waits[i] != in_poll)
            in_read();
    }
    ++step;
    with(hold, in_mutex);
    ++step;
    hop();
    steps[rank] = step;
    const struct timespec moment = {.tv_nsec = 100000};
    for (int other = 0; other < ranks; ++other)
        while (steps[other] < step)
            nanosleep(&moment, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of OpenMP. */
static void check(const char *name, void (*wait)(void)) {
    ++step;
    wait(); /* memory that it needs is there from now on */
    hop();
    const long before = homecomings();
    for (int i = 0; i < TIMES; ++i) {
        ++step;
        wait();
    }
    const long more = homecomings() - before;
    CHECK(before >= 0);
    if (more > MOST) {
        fprintf(stderr, "rank %d came home %ld times in %d waits: %s\n", rank, more, TIMES, name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    omp_set_num_threads(2);
    omp_init_lock(&lock);
    int *memory = NULL;
    MPI_Win window;
    MPI_Aint bytes = rank == 0 ? ranks * (MPI_Aint)sizeof *memory : 0;
    MPI_Win_allocate_shared(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    int unit;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    steps = memory;
    if (rank == 0)
        for (int i = 0; i < ranks; ++i)
            steps[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    check("join", join);
    check("barrier", barrier);
    check("lock", locked);
    check("taskwait", taskwait);
    system_waits();
    MPI_Win_free(&window);
    if (rank == 0)
        puts("away");
    MPI_Finalize();
    return 0;
}
