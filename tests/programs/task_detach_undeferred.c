/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test, policies, tool, valgrind: # stock libgomp holds the creator for too long, libomp drops the
 *     dependences
 * OpenMP 5.2, 12.5 and 12.5.2: an undeferred task holds its creator until its structured block is
 * over; a detachable one is complete, and releases its dependences, when its event is fulfilled.
 */
#include "check.h"
#include <pthread.h>

static int fulfilled;

static void fulfil(omp_event_handle_t event) {
    __atomic_add_fetch(&fulfilled, 1, __ATOMIC_RELEASE);
    omp_fulfill_event(event);
}

static int fulfilled_now(void) {
    return __atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE);
}

struct foreign {
    pthread_t thread;
    omp_event_handle_t event;
};

static void *fulfil_later(void *argument) {
    const struct foreign *foreign = argument;
    usleep(2000);
    fulfil(foreign->event);
    return NULL;
}

static void start(struct foreign *foreign, omp_event_handle_t event) {
    foreign->event = event;
    CHECK_EQ(pthread_create(&foreign->thread, NULL, fulfil_later, foreign), 0);
}

/* The creator itself fulfils the event, so it was not held until then. */
static void the_creator_goes_on(void) {
    int done = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task if (0) detach(event) shared(done)
    done = 1;
    CHECK_EQ(done, 1);
    omp_fulfill_event(event);
#pragma omp taskwait
}

static void dependences_are_held(void) {
    int cells[2] = {0}, ran = 0, at_first = -1, at_second = -1;
    omp_event_handle_t event = (omp_event_handle_t)0;
    fulfilled = 0;
#pragma omp task if (0) detach(event) depend(out : cells[0]) depend(in : cells[1]) shared(cells)
    cells[0] = 1;
    CHECK_EQ(cells[0], 1);
#pragma omp task depend(in : cells[0]) shared(cells, at_first)
    {
        CHECK_EQ(cells[0], 1);
        at_first = fulfilled_now();
    }
#pragma omp task depend(out : cells[1]) shared(at_second)
    at_second = fulfilled_now();
#pragma omp task shared(ran)
    {
#pragma omp atomic write
        ran = 1;
    }
#pragma omp taskyield
    usleep(200);
    fulfil(event);
#pragma omp taskwait
    CHECK_EQ(at_first, 1);
    CHECK_EQ(at_second, 1);
    CHECK_EQ(ran, 1);
}

/* One after the other: the second undeferred task waits for the first one's event. */
static void undeferred_after_undeferred(void) {
    int x = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
    struct foreign foreign;
    fulfilled = 0;
#pragma omp task if (0) detach(event) depend(inout : x) shared(x, foreign)
    {
        x = 1;
        start(&foreign, event);
    }
#pragma omp task if (0) depend(inout : x) shared(x)
    {
        CHECK_EQ(fulfilled_now(), 1);
        x = 2;
    }
    CHECK_EQ(x, 2);
    CHECK_EQ(pthread_join(foreign.thread, NULL), 0);
}

static void taskwait_and_taskgroup_wait(void) {
    omp_event_handle_t event = (omp_event_handle_t)0;
    struct foreign foreign[2];
    fulfilled = 0;
#pragma omp task if (0) detach(event) shared(foreign)
    start(&foreign[0], event);
#pragma omp taskwait
    CHECK_EQ(fulfilled_now(), 1);
#pragma omp taskgroup
    {
#pragma omp task shared(foreign)
        {
#pragma omp task if (0) detach(event) shared(foreign)
            start(&foreign[1], event);
        }
    }
    CHECK_EQ(fulfilled_now(), 2);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(pthread_join(foreign[i].thread, NULL), 0);
}

/* Its own children may outlive it, and it them. */
static void children_of_its_own(void) {
    int children = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp taskgroup
    {
#pragma omp task if (0) detach(event) shared(children)
        for (int i = 0; i < 3; ++i) {
#pragma omp task shared(children) depend(out : children)
            children += 1;
        }
#pragma omp task firstprivate(event)
        omp_fulfill_event(event);
    }
    CHECK_EQ(children, 3);
}

/* Below a final task every task is included, and undeferred. */
static void included(void) {
    int x = 0;
#pragma omp task final(1) shared(x)
    {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : x) shared(x)
        x = 1;
        CHECK_EQ(x, 1);
        omp_fulfill_event(event);
#pragma omp task depend(inout : x) shared(x)
        x = 2;
        CHECK_EQ(x, 2);
    }
#pragma omp taskwait
    CHECK_EQ(x, 2);
}

static void the_region_waits(void) {
    struct foreign foreign;
    fulfilled = 0;
#pragma omp parallel
#pragma omp single nowait
    {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task if (0) detach(event) shared(foreign)
        start(&foreign, event);
    }
    CHECK_EQ(fulfilled_now(), 1);
    CHECK_EQ(pthread_join(foreign.thread, NULL), 0);
}

static void all(void) {
    the_creator_goes_on();
    dependences_are_held();
    undeferred_after_undeferred();
    taskwait_and_taskgroup_wait();
    children_of_its_own();
    included();
}

int main(void) {
    for (int round = 0; round < 5; ++round) {
        all();
#pragma omp parallel num_threads(1)
        all();
#pragma omp parallel
#pragma omp single
        all();
        the_region_waits();
    }
    return 0;
}
