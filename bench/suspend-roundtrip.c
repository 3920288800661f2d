/* SPDX-License-Identifier: Apache-2.0
 *
 * suspend-roundtrip - what it costs that a task waits for another one in the middle of its body.
 *
 * Under Sennit tasks suspend (sennit.h, looked up at run time: the program is stock OpenMP). Other
 * runtimes have two things that come near: to spin on taskyield, which works only while no more
 * tasks wait than there are threads, and to cut the task in two at the wait, the second half
 * depending on the first one's `detach` event. All three are rows, for every runtime.
 */
#define _GNU_SOURCE
#include "harness.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdatomic.h>

enum { MAX_PLAYERS = 64 };

/* The part of sennit.h that is used here; a task is opaque. */
static int (*task_self)(void **task);
static int (*task_suspend)(void *task);
static int (*task_resume)(void *task);

static bool find_sennit(void) {
    *(void **)&task_self = dlsym(RTLD_DEFAULT, "sennit_task_self");
    *(void **)&task_suspend = dlsym(RTLD_DEFAULT, "sennit_task_suspend");
    *(void **)&task_resume = dlsym(RTLD_DEFAULT, "sennit_task_resume");
    return task_self && task_suspend && task_resume;
}

/* 0 stands for four players a thread: more waiting tasks than there are threads. */
static long player_count(long players) {
    if (players == 0)
        players = 4L * omp_get_max_threads();
    return players < MAX_PLAYERS ? players : MAX_PLAYERS;
}

/* Of two players one unit is a round trip, of more it is a hop to the next one. */
static long units(long rounds, long players) {
    return players == 2 ? rounds : rounds * players;
}

struct suspended_ring {
    void *_Atomic task[MAX_PLAYERS];
    atomic_long arrived, hops;
};

/* One player: waits to be resumed, then resumes the next one, `rounds` times. The last one to
 * arrive starts the ring, so every handle is known to whoever needs it. Without rounds nobody is
 * suspended: what is left is the price of the tasks themselves. */
static void play_suspended(struct suspended_ring *ring, long me, long rounds, long players) {
    void *self = NULL;
    bench_check(task_self(&self) == 0, "sennit_task_self");
    atomic_store(&ring->task[me], self);
    if (atomic_fetch_add(&ring->arrived, 1) == players - 1 && rounds > 0)
        task_resume(atomic_load(&ring->task[0]));
    for (long round = 0; round < rounds; ++round) {
        task_suspend(self);
        const long hop = atomic_fetch_add(&ring->hops, 1);
        bench_check(hop == round * players + me, "order of resumed tasks");
        if (hop != rounds * players - 1)
            task_resume(atomic_load(&ring->task[(me + 1) % players]));
    }
}

static void ring_of(long rounds, long players) {
    struct suspended_ring ring;
    atomic_init(&ring.arrived, 0);
    atomic_init(&ring.hops, 0);
#pragma omp parallel
#pragma omp single
    for (long me = 0; me < players; ++me) {
#pragma omp task shared(ring) firstprivate(me)
        play_suspended(&ring, me, rounds, players);
    }
    bench_check(atomic_load(&ring.hops) == rounds * players, "number of hops");
}

static long run_suspended(long rounds, long wanted_players) {
    if (!find_sennit())
        return BENCH_UNAVAILABLE;
    const long players = player_count(wanted_players);
    ring_of(rounds, players);
    return units(rounds, players);
}

static long run_unsuspended(long rings, long players) {
    if (!find_sennit())
        return BENCH_UNAVAILABLE;
    for (long ring = 0; ring < rings; ++ring)
        ring_of(0, players);
    return rings;
}

/* Two tasks resume themselves before they suspend, which then returns at once: the price of the two
 * calls without any switch. */
static long run_resumed(long rounds, long unused) {
    (void)unused;
    if (!find_sennit())
        return BENCH_UNAVAILABLE;
#pragma omp parallel
#pragma omp single
    for (int task = 0; task < 2; ++task) {
#pragma omp task
        {
            void *self = NULL;
            bench_check(task_self(&self) == 0, "sennit_task_self");
            for (long round = 0; round < rounds; ++round) {
                task_resume(self);
                task_suspend(self);
            }
        }
    }
    return rounds;
}

static long run_yielding(long rounds, long wanted_players) {
    const long players = player_count(wanted_players);
    atomic_long turn;
    atomic_init(&turn, 0);
#pragma omp parallel
#pragma omp single
    for (long me = 0; me < players; ++me) {
#pragma omp task shared(turn) firstprivate(me)
        for (long round = 0; round < rounds; ++round) {
            const long mine = round * players + me;
            while (atomic_load(&turn) != mine) {
#pragma omp taskyield
            }
            atomic_store(&turn, mine + 1);
        }
    }
    bench_check(atomic_load(&turn) == rounds * players, "number of hops");
    return units(rounds, players);
}

/* One round trip between tasks A and B, each cut at its wait: the first halves only leave a mark;
 * A's second half runs when `ping` is fulfilled and fulfils `pong`, B's second half ends it. */
static long run_detached(long rounds, long unused) {
    (void)unused;
    long answers = 0;
#pragma omp parallel
#pragma omp single
    for (long round = 0; round < rounds; ++round) {
        long a = 0, b = 0;
        omp_event_handle_t ping, pong;
#pragma omp task detach(ping) depend(out : a) shared(a)
        a = 1;
#pragma omp task detach(pong) depend(out : b) shared(b)
        b = 1;
#pragma omp task depend(in : a) shared(a) firstprivate(pong)
        if (a)
            omp_fulfill_event(pong);
#pragma omp task depend(in : b) shared(b, answers)
        answers += b;
        omp_fulfill_event(ping);
#pragma omp taskwait
    }
    bench_check(answers == rounds, "number of answers");
    return rounds;
}

static _Thread_local long own_count;

/* One of the tasks may suspend, as far as a runtime can know: then the others, when the queue is
 * long, cannot just be called, each needs a stack of its own. */
static long run_flat(long tasks, long unused) {
    (void)unused;
    long count = 0;
#pragma omp parallel reduction(+ : count)
    {
        own_count = 0;
#pragma omp barrier
#pragma omp single
        {
#pragma omp task
            {
#pragma omp taskyield
            }
            for (long i = 0; i < tasks; ++i) {
#pragma omp task
                ++own_count;
            }
        }
        count += own_count;
    }
    bench_check(count == tasks, "number of tasks");
    return tasks;
}

static const struct bench_row rows[] = {
    {"suspend-pingpong", "trip", "two tasks suspend and resume each other", 100, 2, run_suspended},
    {"suspend-none", "ring", "the same two tasks, which do not suspend", 100, 2, run_unsuspended},
    {"suspend-resumed", "trip", "two tasks resume themselves and then suspend", 100, 0,
     run_resumed},
    {"yield-pingpong", "trip", "two tasks wait for each other by taskyield", 100, 2, run_yielding},
    {"detach-pingpong", "trip", "two tasks cut in halves by detach events", 100, 0, run_detached},
    {"flat-may-suspend", "task", "empty tasks, one producer, where one task may suspend", 20000, 0,
     run_flat},
    {"suspend-ring", "hop", "4 tasks a thread in a ring, suspending", 10, 0, run_suspended},
    {"yield-ring", "hop", "4 tasks a thread in a ring, by taskyield", 10, 0, run_yielding},
};

int main(int argc, char **argv) {
    const struct bench_program program = {
        .rows = rows, .row_count = BENCH_COUNT(rows), .reporter = true};
    return bench_main(argc, argv, &program);
}
