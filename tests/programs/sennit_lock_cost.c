/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="SENNIT_VALGRIND and not sanitized and not debug"
 * What a mutex of libc's costs that nobody else wants, and a read. lock_cost.py counts.
 *   before: OpenMP has not been used yet
 *   outside: after a region
 *   task: in a task, while none is suspended
 *   suspended: in a task, while another one of this thread is suspended
 *   read_before, read_outside: as before and outside, a call of read */
#include "../mpi/programs/counting.c"
#include "sennit_door.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

enum { pairs = 1000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_and_unlock(void) {
    pthread_mutex_lock(&mutex); /* the dynamic linker is not counted */
    pthread_mutex_unlock(&mutex);
    start_counting();
    for (int i = 0; i < pairs; ++i) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    stop_counting();
}

static void read_nothing(void) {
    const int file = open("/dev/null", O_RDONLY);
    char byte;
    CHECK_EQ(read(file, &byte, 1), 0);
    start_counting();
    for (int i = 0; i < pairs; ++i)
        read(file, &byte, 1);
    stop_counting();
    close(file);
}

static void in_task(void) {
#pragma omp parallel
#pragma omp task
    lock_and_unlock();
}

static void beside_a_suspended_task(void) {
    static sennit_task *volatile suspended;
#pragma omp parallel
    {
#pragma omp task
        {
            suspended = door_self();
            CHECK_EQ(DOOR(sennit_task_suspend)(suspended), SENNIT_SUCCESS);
        }
#pragma omp task
        {
            while (!suspended) { /* which of the two begins first is the policy's */
#pragma omp taskyield
            }
            lock_and_unlock();
            CHECK_EQ(DOOR(sennit_task_resume)(suspended), SENNIT_SUCCESS);
        }
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    if (strstr(argv[1], "outside")) {
#pragma omp parallel
        omp_get_thread_num();
    }
    if (strcmp(argv[1], "task") == 0)
        in_task();
    else if (strcmp(argv[1], "suspended") == 0)
        beside_a_suspended_task();
    else if (strncmp(argv[1], "read_", 5) == 0)
        read_nothing();
    else
        lock_and_unlock();
    printf("calls=%d\n", pairs);
    return 0;
}
