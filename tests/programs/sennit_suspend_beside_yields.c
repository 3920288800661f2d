/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test:
 * Tasks that wait for others by yielding in turns do not keep a task from going on that a thread
 * outside has resumed.
 */
#include "sennit_door.h"
#include <pthread.h>

static int asleep, done;
static sennit_task *sleeper;

static int get(int *flag) {
    int value;
#pragma omp atomic read seq_cst
    value = *flag;
    return value;
}

static void set(int *flag) {
#pragma omp atomic write seq_cst
    *flag = 1;
}

static void *resume(void *unused) {
    (void)unused;
    while (!get(&asleep))
        usleep(100);
    usleep(1000);
    CHECK_EQ(DOOR(sennit_task_resume)(sleeper), SENNIT_SUCCESS);
    return NULL;
}

int main(void) {
    for (int round = 0; round < 5; ++round) {
        asleep = done = 0;
        pthread_t outside;
        CHECK_EQ(pthread_create(&outside, NULL, resume, NULL), 0);
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < 2 * omp_get_num_threads(); ++i) {
#pragma omp task
                while (!get(&done)) {
#pragma omp taskyield
                }
            }
#pragma omp task
            {
                sleeper = door_self();
                set(&asleep);
                CHECK_EQ(DOOR(sennit_task_suspend)(sleeper), SENNIT_SUCCESS);
                set(&done);
            }
        }
        CHECK_EQ(pthread_join(outside, NULL), 0);
    }
    return 0;
}
