/* SPDX-License-Identifier: Apache-2.0
 * alone: -fopenmp -pthread -- {homecomings}
 * A rank fiber whose process becomes another program: another thread calls exec, while the main
 * flow is away from home and computes. The new program has the rank's process number. It sees that
 * the old flow comes to an end, and then ends as it likes: nobody has sent it a signal.
 *
 * usage: rank_fibers_exec FILE spins|calls */
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "homecomings.h"

enum { ENDS_WITH = 8, SECONDS = 30 };

static void must(int holds, const char *what) {
    if (!holds) {
        perror(what);
        abort();
    }
}

static volatile long *turns; /* of the old program's main flow, in memory of both programs */
static volatile int away, execs;
static char **words;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void share(const char *path) {
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    must(file >= 0 && ftruncate(file, sizeof *turns) == 0, path);
    turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(turns != MAP_FAILED, "mmap");
}

static void *other_thread(void *unused) {
    while (!away)
        usleep(1000);
    char *const line[] = {words[0], words[1], "new", NULL};
    execs = 1;
    execv(line[0], line);
    abort();
    return unused;
}

/* Each thread in its turn comes late to the barrier, so the other one leaves home. */
static void leave_home(void) {
    for (int turn = 0; !away; turn = !turn) {
#pragma omp parallel num_threads(2)
        {
            const int me = omp_get_thread_num();
            const double begin = now();
            while (me == turn && now() - begin < 0.005)
                ;
#pragma omp barrier
        }
        away = is_away();
    }
}

/* Long after the new program has begun, as a rule: a call that the home thread would make. */
static void go_on(int calls) {
    double began = 0;
    for (;;) {
        ++*turns;
        if (began == 0 && execs)
            began = now();
        if (calls && began != 0 && now() - began > 0.2)
            getppid();
    }
}

static int is_new(void) {
    const double begin = now();
    for (long before = -1; before != *turns;) {
        must(now() - begin < SECONDS, "the old program's flow ends");
        before = *turns;
        usleep(400000);
    }
    return ENDS_WITH;
}

int main(int count, char **arguments) {
    must(count == 3, "FILE spins|calls");
    words = arguments;
    share(words[1]);
    if (strcmp(words[2], "new") == 0)
        return is_new();
    pthread_t thread;
    must(pthread_create(&thread, NULL, other_thread, NULL) == 0, "pthread_create");
    leave_home();
    go_on(strcmp(words[2], "calls") == 0);
}
