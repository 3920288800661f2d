/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test, policies, split, tool, valgrind, sanitizers:
 * sennit.h: a suspended task gives its worker away and goes on there when it is resumed; a resume
 * that comes first is one token; undeferred, dependent, nested, initial and implicit tasks alike.
 */
#include "sennit_door.h"
#include <pthread.h>

static void *resume(void *task) {
    usleep(1000);
    CHECK_EQ(DOOR(sennit_task_resume)(task), SENNIT_SUCCESS);
    return NULL;
}

static void suspend_until_a_foreign_thread_resumes(void) {
    pthread_t thread;
    sennit_task *self = door_self();
    const pthread_t before = pthread_self();
    CHECK_EQ(pthread_create(&thread, NULL, resume, self), 0);
    CHECK_EQ(DOOR(sennit_task_suspend)(self), SENNIT_SUCCESS);
    CHECK(pthread_equal(before, pthread_self()));
    CHECK(self == door_self());
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void a_token_is_kept(void) {
    sennit_task *self = door_self();
    for (int i = 0; i < 10; ++i) {
        CHECK_EQ(DOOR(sennit_task_resume)(self), SENNIT_SUCCESS);
        CHECK_EQ(DOOR(sennit_task_suspend)(self), SENNIT_SUCCESS);
    }
}

/* Every task suspends; the last one created resumes all in a scrambled order. */
static void siblings_resume_siblings(int count) {
    sennit_task **sleeper = calloc((size_t)count, sizeof *sleeper);
    int asleep = 0, awake = 0;
    for (int i = 0; i < count; ++i) {
#pragma omp task shared(asleep, awake)
        {
            const int me = omp_get_thread_num();
            sleeper[i] = door_self();
#pragma omp atomic seq_cst
            asleep += 1;
            CHECK_EQ(DOOR(sennit_task_suspend)(sleeper[i]), SENNIT_SUCCESS);
            CHECK_EQ(omp_get_thread_num(), me);
#pragma omp atomic
            awake += 1;
        }
    }
#pragma omp task shared(asleep)
    {
        int seen;
        do {
#pragma omp taskyield
#pragma omp atomic read seq_cst
            seen = asleep;
        } while (seen < count);
        for (int i = 0; i < count; ++i)
            CHECK_EQ(DOOR(sennit_task_resume)(sleeper[(i * 7 + 3) % count]), SENNIT_SUCCESS);
    }
#pragma omp taskwait
    CHECK_EQ(awake, count);
    free(sleeper);
}

static void dependences_and_children(void) {
    int x = 0;
    for (int i = 0; i < 5; ++i) {
#pragma omp task depend(inout : x) shared(x) if (i % 2)
        {
            CHECK_EQ(x, i);
            suspend_until_a_foreign_thread_resumes();
            int child = 0;
#pragma omp task shared(child)
            {
                suspend_until_a_foreign_thread_resumes();
                child = 1;
            }
#pragma omp taskwait
            CHECK_EQ(child, 1);
            x = i + 1;
        }
    }
#pragma omp taskwait
    CHECK_EQ(x, 5);
}

static void wrong_calls_are_refused(void) {
    sennit_task *self = door_self(), *other = NULL;
    int kind = -1;
    CHECK_EQ(DOOR(sennit_task_self)(NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_suspend)(NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_resume)(NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_get_kind)(self, NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_get_kind)(self, &kind), SENNIT_SUCCESS);
#pragma omp task if (0) shared(other, self)
    {
        int inner = -1;
        other = door_self();
        CHECK(other != self);
        CHECK_EQ(DOOR(sennit_task_get_kind)(other, &inner), SENNIT_SUCCESS);
        CHECK_EQ(inner, SENNIT_TASK_EXPLICIT);
        CHECK_EQ(DOOR(sennit_task_suspend)(self), SENNIT_ERR_NOT_SELF);
        CHECK_EQ(DOOR(sennit_task_events_increase)(self, 1), SENNIT_ERR_NOT_SELF);
        CHECK(DOOR(sennit_should_suspend)());
    }
    CHECK_EQ(kind, omp_get_level() ? SENNIT_TASK_IMPLICIT : SENNIT_TASK_INITIAL);
}

int main(void) {
    for (int round = 0; round < 3; ++round) {
        suspend_until_a_foreign_thread_resumes();
        a_token_is_kept();
#pragma omp parallel
        {
            suspend_until_a_foreign_thread_resumes();
            a_token_is_kept();
#pragma omp single
            {
                siblings_resume_siblings(100);
                dependences_and_children();
                wrong_calls_are_refused();
            }
        }
        wrong_calls_are_refused();
    }
    return 0;
}
