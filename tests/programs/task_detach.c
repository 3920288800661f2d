/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test, policies, split, tool, valgrind:
 * OpenMP 5.2, 12.5.2 (detach): a detachable task is complete when its body has ended and its event
 * is fulfilled, by itself, by another task, or by a thread that OpenMP does not know; until then
 * its successors, taskwait and taskgroup wait.
 */
#include "check.h"
#include <pthread.h>

static void fulfilled_by_the_task_itself(void) {
    int done = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) shared(done)
    {
        omp_fulfill_event(event);
        done = 1;
    }
#pragma omp taskwait
    CHECK_EQ(done, 1);
}

/* An undeferred detachable task without an event to wait for ends like any other. */
static void fulfilled_while_undeferred(void) {
    int done = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) if (0) shared(done)
    {
        omp_fulfill_event(event);
        done = 1;
    }
#pragma omp taskwait
    CHECK_EQ(done, 1);
}

static void fulfilled_by_a_sibling(void) {
    int fulfilled = 0, x = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : x) shared(x)
    x = 1;
#pragma omp task shared(fulfilled) firstprivate(event)
    {
#pragma omp atomic write
        fulfilled = 1;
        omp_fulfill_event(event);
    }
#pragma omp task depend(inout : x) shared(fulfilled, x)
    {
        int seen;
#pragma omp atomic read
        seen = fulfilled;
        CHECK(seen);
        CHECK_EQ(x, 1);
        x = 2;
    }
#pragma omp taskwait
    CHECK_EQ(x, 2);
}

struct job {
    omp_event_handle_t event;
    int *flag;
};

static void *fulfil(void *argument) {
    struct job *job = argument;
    usleep(2000);
    __atomic_store_n(job->flag, 1, __ATOMIC_RELEASE);
    omp_fulfill_event(job->event);
    free(job);
    return NULL;
}

static void start(omp_event_handle_t event, int *flag) {
    pthread_t thread;
    struct job *job = malloc(sizeof *job);
    CHECK(job != NULL);
    *job = (struct job){event, flag};
    CHECK_EQ(pthread_create(&thread, NULL, fulfil, job), 0);
    CHECK_EQ(pthread_detach(thread), 0);
}

static void fulfilled_by_a_foreign_thread(void) {
    int flag[3] = {0}, after = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : flag[0]) shared(flag)
    start(event, &flag[0]);
#pragma omp task depend(in : flag[0]) shared(flag, after)
    after = __atomic_load_n(&flag[0], __ATOMIC_ACQUIRE);
#pragma omp taskwait
    CHECK_EQ(after, 1);
#pragma omp taskgroup
    {
#pragma omp task shared(flag)
        {
#pragma omp task detach(event) shared(flag)
            start(event, &flag[1]);
        }
    }
    CHECK(__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE));
}

static void many_at_once(void) {
    enum { many = 25 }; /* fewer than what makes libgomp call tasks in place */
    static omp_event_handle_t events[many];
    int done = 0, chain[many] = {0};
    for (int i = 0; i < many; ++i) {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : chain[i]) shared(done, chain)
        {
            chain[i] = i;
#pragma omp atomic
            done += 1;
        }
        events[i] = event;
#pragma omp task depend(in : chain[i]) shared(done, chain)
        {
            CHECK_EQ(chain[i], i);
#pragma omp atomic
            done += 1;
        }
    }
    for (int i = many - 1; i >= 0; --i) {
#pragma omp task firstprivate(i) shared(events)
        omp_fulfill_event(events[i]);
    }
#pragma omp taskwait
    CHECK_EQ(done, 2 * many);
}

int main(void) {
    for (int round = 0; round < 5; ++round) {
#pragma omp parallel
#pragma omp single
        {
            fulfilled_by_the_task_itself();
            fulfilled_while_undeferred();
            fulfilled_by_a_sibling();
            fulfilled_by_a_foreign_thread();
            many_at_once();
        }
    }
    return 0;
}
