/* SPDX-License-Identifier: Apache-2.0
 * alone: -fopenmp -- {homecomings}
 * A rank fiber without MPI: the threads of its teams leave home when they wait, and no kernel
 * thread of theirs has a part in their regions.
 *
 * The master's file, folder and process stay its own. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "homecomings.h"
#include "team_work.h"

/* MOST: the runtime starts a thread of its own once, whichever thread asks for it. */
enum { THREADS = 3, TIMES = 200, MOST = 2 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Each in its turn waits for the others longer than it would stay awake. */
static void all_leave_home(void (*once_away)(void)) {
    int away[THREADS] = {0}, left = THREADS;
    for (int turn = 0; left > 0; turn = (turn + 1) % THREADS) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            const double begin = omp_get_wtime();
            while (me != turn && omp_get_wtime() - begin < 0.005)
                ;
#pragma omp barrier
            if (is_away()) {
                away[me] = 1;
                once_away();
            }
        }
        left = THREADS;
        for (int i = 0; i < THREADS; ++i)
            left -= away[i];
    }
}

static void do_nothing(void) {}

/* MPI libraries attach a rank's memory before the first message to it: for that nobody comes home.
 * One thread at a time: what notes the mappings has a lock. */
static int segment, attached;
static void attach(void) {
    struct shmid_ds state;
#pragma omp critical
    if (is_away()) {
        void *const memory = shmat(segment, NULL, 0);
        CHECK(memory != (void *)-1);
        CHECK(shmctl(segment, IPC_STAT, &state) == 0 && state.shm_segsz == 4096);
        CHECK(shmdt(memory) == 0);
        CHECK(is_away());
        ++attached;
    }
}

static void regions(void) {
    long before[THREADS] = {0}, more[THREADS] = {0};
    volatile long sum = 0;
    for (int i = 0; i <= TIMES; ++i) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            if (i == 0)
                before[me] = homecomings();
            work_together(&sum, THREADS);
            if (i == TIMES)
                more[me] = homecomings() - before[me];
        }
    }
    CHECK(sum == 2L * (TIMES + 1) * THREADS);
    for (int i = 0; i < THREADS; ++i) {
        CHECK(before[i] >= 0);
        if (more[i] > MOST) {
            fprintf(stderr, "thread %d came home %ld times in %d regions\n", i, more[i], TIMES);
            abort();
        }
    }
}

static void calls(void) {
    const long process = getpid();
    long number[THREADS];
#pragma omp parallel
    number[omp_get_thread_num()] = syscall(SYS_gettid);
    CHECK(number[0] == process && number[1] != process && number[2] != number[1]);
    for (int k = 0; k < TIMES / 4; ++k) {
#pragma omp parallel
        {
#pragma omp barrier
            CHECK(syscall(SYS_gettid) == number[omp_get_thread_num()] && getppid() > 0);
        }
    }
}

int main(void) {
    omp_set_num_threads(THREADS);
    omp_set_dynamic(0);
    all_leave_home(do_nothing);
    segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    CHECK(segment >= 0);
    all_leave_home(attach);
    CHECK(attached > 0 && shmctl(segment, IPC_RMID, NULL) == 0);
    regions();
    calls();
    puts("openmp");
    return 0;
}
