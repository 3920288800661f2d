/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread -lm
 * test: SENNIT_UNTIED=anywhere
 * run: omp.sennit_untied.{policy}.{compiler} threads=4 policy=fifo|lifo|fa SENNIT_POLICY={policy}
 *     SENNIT_UNTIED=anywhere
 * Untied tasks that were suspended go on on any thread of their team: others go on with them while
 * the thread that began them computes. What belongs to the task goes with it.
 */
#include "sennit_door.h"
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

enum { count = 40 };

/* pthread_self() will not do: compilers take it for a constant of the function. */
__attribute__((noinline)) static int thread_here(void) {
    int id = (int)syscall(SYS_gettid);
    __asm__ volatile("" : "+r"(id));
    return id;
}

static int read_int(const int *at) {
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
static void add(int *at, int more) {
    __atomic_fetch_add(at, more, __ATOMIC_SEQ_CST);
}

static sennit_task *sleeper[count];
static int begun_on[count], ended_on[count];
static int asleep, awake, all_asleep;

__attribute__((noinline)) static void sleeper_body(int i) {
    sleeper[i] = door_self();
    begun_on[i] = thread_here();
    add(&asleep, 1);
    CHECK_EQ(DOOR(sennit_task_suspend)(sleeper[i]), SENNIT_SUCCESS);
    CHECK(sleeper[i] == door_self());
    ended_on[i] = thread_here();
    add(&awake, 1);
}

/* One thread begins all tasks. They are resumed while it computes, and so have to end elsewhere. */
static void others_go_on_while_one_computes(void) {
    asleep = awake = all_asleep = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() != 0)
            while (!read_int(&all_asleep))
                sched_yield();
        else {
            const int me = thread_here();
            for (int i = 0; i < count; ++i) {
#pragma omp task untied firstprivate(i)
                sleeper_body(i);
            }
            while (read_int(&asleep) < count) {
#pragma omp taskyield
            }
            for (int i = 0; i < count; ++i) {
                CHECK_EQ(begun_on[i], me);
                CHECK_EQ(DOOR(sennit_task_resume)(sleeper[i]), SENNIT_SUCCESS);
            }
            __atomic_store_n(&all_asleep, 1, __ATOMIC_SEQ_CST);
            if (omp_get_num_threads() > 1) { /* no scheduling point: it computes */
                for (const time_t begin = time(NULL); read_int(&awake) < count; sched_yield())
                    CHECK(time(NULL) - begin < 60);
            } else {
#pragma omp taskwait
            }
            CHECK_EQ(awake, count);
            for (int i = 0; i < count; ++i)
                CHECK_EQ(ended_on[i] != me, omp_get_num_threads() > 1);
        }
    }
}

/* A foreign thread resumes: early, late, and in turns. */
static sennit_task *to_resume[count];
static void *resume_all(void *rounds) {
    for (int left = *(int *)rounds * count; left > 0;)
        for (int i = 0; i < count; ++i) {
            sennit_task *task = __atomic_exchange_n(&to_resume[i], NULL, __ATOMIC_SEQ_CST);
            if (!task)
                continue;
            CHECK_EQ(DOOR(sennit_task_resume)(task), SENNIT_SUCCESS);
            --left;
        }
    return NULL;
}
__attribute__((noinline)) static void suspend_here(int i) {
    sennit_task *self = door_self();
    __atomic_store_n(&to_resume[i], self, __ATOMIC_SEQ_CST);
    CHECK_EQ(DOOR(sennit_task_suspend)(self), SENNIT_SUCCESS);
    CHECK(self == door_self());
    CHECK(omp_get_thread_num() >= 0 && omp_get_thread_num() < omp_get_num_threads());
}

static int sum;
static omp_lock_t lock;

/* What a task has: children, a taskgroup, a lock, an undeferred task, a region, its rounding. */
__attribute__((noinline)) static void busy_body(int i, int rounds) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[i % 4]);
    for (int round = 0; round < rounds; ++round) {
        suspend_here(i);
        CHECK_EQ(fegetround(), modes[i % 4]);
        int children = 0;
#pragma omp taskgroup
        for (int child = 0; child < 3; ++child) {
#pragma omp task shared(children)
            add(&children, 1);
        }
        CHECK_EQ(children, 3);
#pragma omp task shared(children)
        add(&children, 1);
#pragma omp taskwait
        CHECK_EQ(children, 4);
#pragma omp task if (0) shared(children)
        add(&children, 1);
        CHECK_EQ(children, 5);
        if (i % 8 == 0) {
#pragma omp parallel num_threads(2) reduction(+ : children)
            children += 1;
            CHECK(children >= 6);
        }
        omp_set_lock(&lock);
        sum += 1;
        omp_unset_lock(&lock);
    }
    fesetround(FE_TONEAREST);
}

static void what_a_task_has_goes_with_it(int rounds) {
    pthread_t resumer;
    CHECK_EQ(pthread_create(&resumer, NULL, resume_all, &rounds), 0);
    int order = 0, in_order = 0;
    sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
            if (i % 5 == 0) {
#pragma omp task untied firstprivate(i) depend(inout : order) shared(order, in_order)
                {
                    busy_body(i, rounds);
                    in_order += order == i;
                    order = i + 5;
                }
            } else {
#pragma omp task untied firstprivate(i)
                busy_body(i, rounds);
            }
        }
    }
    CHECK_EQ(pthread_join(resumer, NULL), 0);
    CHECK_EQ(in_order, count / 5);
    CHECK_EQ(sum, count * rounds);
}

/* While it holds a lock a task is suspended, and goes on elsewhere; others wait for the lock. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void locked_body(int i) {
    omp_set_lock(&lock);
    pthread_mutex_lock(&mutex);
    sum += 1;
    suspend_here(i);
    sum += 1;
    pthread_mutex_unlock(&mutex);
    omp_unset_lock(&lock);
}
static void locks_are_held_across(void) {
    pthread_t resumer;
    int rounds = 1;
    CHECK_EQ(pthread_create(&resumer, NULL, resume_all, &rounds), 0);
    sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task untied firstprivate(i)
        locked_body(i);
    }
    CHECK_EQ(pthread_join(resumer, NULL), 0);
    CHECK_EQ(sum, 2 * count);
}

/* Private copies of a reduction are a thread's: such a task stays. */
__attribute__((noinline)) static void reducing_body(int i, int *copy) {
    const int before = thread_here();
    *copy += 1;
    suspend_here(i);
    CHECK_EQ(thread_here(), before);
    *copy += 1;
}
static void reductions_keep_their_thread(void) {
    pthread_t resumer;
    int rounds = 1, total = 0;
    CHECK_EQ(pthread_create(&resumer, NULL, resume_all, &rounds), 0);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : total)
    for (int i = 0; i < count; ++i) {
#pragma omp task untied firstprivate(i) in_reduction(+ : total)
        reducing_body(i, &total);
    }
    CHECK_EQ(pthread_join(resumer, NULL), 0);
    CHECK_EQ(total, 2 * count);
}

/* Tied tasks, and undeferred ones in untied tasks, stay on their thread. */
__attribute__((noinline)) static void staying_body(int i) {
    const int before = thread_here();
    suspend_here(i);
    CHECK_EQ(thread_here(), before);
}
__attribute__((noinline)) static void around_undeferred(int i) {
#pragma omp task if (0) firstprivate(i)
    staying_body(i);
}
static void tied_tasks_stay(void) {
    pthread_t resumer;
    int rounds = 1;
    CHECK_EQ(pthread_create(&resumer, NULL, resume_all, &rounds), 0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count; ++i) {
        if (i % 2 == 0) {
#pragma omp task firstprivate(i)
            staying_body(i);
        } else {
#pragma omp task untied firstprivate(i)
            around_undeferred(i);
        }
    }
    CHECK_EQ(pthread_join(resumer, NULL), 0);
}

int main(void) {
    omp_init_lock(&lock);
    for (int round = 0; round < 3; ++round) {
        others_go_on_while_one_computes();
        what_a_task_has_goes_with_it(round + 1);
        locks_are_held_across();
        reductions_keep_their_thread();
        tied_tasks_stay();
    }
    omp_destroy_lock(&lock);
    return 0;
}
