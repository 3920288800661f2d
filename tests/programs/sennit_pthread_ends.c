/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test:
 * A thread of the program creates tasks outside of regions and ends while they are suspended: it
 * ends when they are done, for other runtimes do them at once. They go on where they began, with
 * the thread's own variables, also when other threads use OpenMP meanwhile.
 */
#include "sennit_door.h"
#include <pthread.h>

enum { users = 4, rounds = 3, tasks = 5 };

static sennit_task *sleeper[users][tasks];
static int asleep, done, order[users];
static __thread int mine;

static void *ends_early(void *number) {
    const long user = (long)number;
    mine = (int)user + 1;
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(user, i)
        {
            int *const address = &mine;
            const pthread_t thread = pthread_self();
            sleeper[user][i] = door_self();
            __atomic_add_fetch(&asleep, 1, __ATOMIC_RELEASE);
            DOOR(sennit_task_suspend)(sleeper[user][i]);
            CHECK(pthread_equal(thread, pthread_self()));
            CHECK(address == &mine);
            CHECK_EQ(mine, user + 1);
            __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
        }
    }
#pragma omp task depend(out : order[user])
    order[user] = 0; /* dependences outside of regions: what waits for a suspended task, too */
    return NULL;
}

static void *uses_openmp(void *unused) {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    ++members;
#pragma omp taskyield
    CHECK(members >= 1);
    CHECK_EQ(mine, 0);
    return unused;
}

int main(void) {
    for (int round = 0; round < rounds; ++round) {
        pthread_t thread[users], other;
        asleep = done = 0;
        for (long i = 0; i < users; ++i)
            CHECK_EQ(pthread_create(&thread[i], NULL, ends_early, (void *)i), 0);
        while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) < users * tasks)
            usleep(100);
        for (int i = 0; i < users; ++i) {
            CHECK_EQ(pthread_create(&other, NULL, uses_openmp, NULL), 0);
            CHECK_EQ(pthread_join(other, NULL), 0);
        }
        CHECK_EQ(done, 0);
        for (int i = 0; i < users; ++i)
            for (int k = tasks - 1; k >= 0; --k)
                DOOR(sennit_task_resume)(sleeper[i][k]);
        for (int i = 0; i < users; ++i)
            CHECK_EQ(pthread_join(thread[i], NULL), 0);
        CHECK_EQ(done, users * tasks);
    }
    return 0;
}
