/* SPDX-License-Identifier: Apache-2.0
 * test: variant=auto threads=2 SENNIT_SPLIT=auto
 *
 * sennit_split_taskloop.c - taskloops under SENNIT_SPLIT=auto on 2 workers: into how many tasks one
 * is cut follows from what others took of its last runs. Clauses say it better.
 *
 * Whether others take tasks does not depend on how fast they are: either all are blocked in the
 * system, or the creator waits for them.
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* As in src/decide/objects/problem.h; and tasks, at most, of a team of so many threads. */
enum { kThreads = 3, kMost = 4 * kThreads, kEnd = 8, kLength = 16, kProbeEvery = 64 };
enum { kCount = 1200 };

static atomic_int g_tasks, g_sum;

static void note(int *begun, int i) {
    if (!*begun)
        atomic_fetch_add(&g_tasks, 1);
    *begun = 1;
    atomic_fetch_add(&g_sum, i);
}

/* How many tasks? Each has a `begun` of its own. */
#define TASKS_OF(...)                                                                              \
    do {                                                                                           \
        int begun = 0;                                                                             \
        atomic_store(&g_tasks, 0);                                                                 \
        atomic_store(&g_sum, 0);                                                                   \
        DO_PRAGMA(omp taskloop firstprivate(begun) __VA_ARGS__)                                    \
        for (int i = 0; i < kCount; ++i)                                                           \
            note(&begun, i);                                                                       \
        CHECK_EQ(atomic_load(&g_sum), kCount *(kCount - 1) / 2);                                   \
    } while (0)
#define DO_PRAGMA(...) _Pragma(#__VA_ARGS__)

static int tasks_of_plain(void) {
    TASKS_OF();
    return atomic_load(&g_tasks);
}
static int tasks_of_five(void) {
    TASKS_OF(num_tasks(5));
    return atomic_load(&g_tasks);
}
static int tasks_of_grains(void) {
    TASKS_OF(grainsize(kCount / 3));
    return atomic_load(&g_tasks);
}

static void say(int to) {
    const char byte = 0;
    CHECK_EQ(write(to, &byte, 1), 1);
}
static void hear(int from) {
    char byte;
    CHECK_EQ(read(from, &byte, 1), 1);
}

/* The other worker is blocked in the system, and so is any thread that begins meanwhile. */
static void nobody_helps(void) {
    int blocked[2], done[2];
    CHECK_EQ(pipe(blocked), 0);
    CHECK_EQ(pipe(done), 0);
#pragma omp parallel num_threads(kThreads)
    {
        if (omp_get_thread_num() == 0) {
            hear(blocked[0]);
            for (int run = 0; run < kEnd; ++run)
                CHECK_EQ(tasks_of_plain(), kMost);
            for (int run = 1; run < kProbeEvery; ++run)
                CHECK_EQ(tasks_of_plain(), 1);
            CHECK_EQ(tasks_of_plain(), 2); /* to see whether somebody would help */
            CHECK_EQ(tasks_of_plain(), 1);
            for (int run = 0; run <= kEnd; ++run) {
                CHECK_EQ(tasks_of_five(), 5);
                CHECK_EQ(tasks_of_grains(), 3);
            }
            for (int thread = 1; thread < kThreads; ++thread)
                say(done[1]);
        } else {
            say(blocked[1]);
            hear(done[0]);
        }
    }
}

static atomic_int g_by_others;

/* The creator waits, in each of its tasks, until others have run a quarter of the iterations. */
static int tasks_of_shared(void) {
    const pthread_t creator = pthread_self();
    int begun = 0;
    atomic_store(&g_tasks, 0);
    atomic_store(&g_by_others, 0);
#pragma omp taskloop firstprivate(begun, creator)
    for (int i = 0; i < kCount; ++i) {
        note(&begun, i);
        if (!pthread_equal(pthread_self(), creator))
            atomic_fetch_add(&g_by_others, 1);
        else
            while (atomic_load(&g_by_others) < kCount / 4)
                sched_yield();
    }
    return atomic_load(&g_tasks);
}

static void others_help(void) {
#pragma omp parallel num_threads(kThreads)
#pragma omp single
    {
        for (int run = 0; run < kLength; ++run)
            CHECK_EQ(tasks_of_shared(), kMost);
        for (int run = 0; run < 2 * kLength; ++run)
            CHECK(tasks_of_shared() >= kMost / 4);
    }
}

int main(void) {
    nobody_helps();
    others_help();
    return 0;
}
