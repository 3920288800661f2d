/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test: # stock libgomp misses the wake-up
 * OpenMP 5.2, 12.5.2 (detach): the last thing that a region waits for may be an event that a thread
 * fulfils which OpenMP does not know. The region's team may be gone as soon as that is done: teams
 * of ever other sizes make room for each other.
 */
#include "check.h"
#include <pthread.h>

enum { rounds = 60 };

static struct job {
    omp_event_handle_t event;
    int done;
    pthread_t thread;
} jobs[rounds];

static void *fulfil(void *argument) {
    struct job *job = argument;
    job->done = 1;
    omp_fulfill_event(job->event);
    return NULL;
}

int main(void) {
    omp_set_dynamic(0);
    for (int round = 0; round < rounds; ++round) {
        struct job *job = &jobs[round];
#pragma omp parallel num_threads(2 + round % 6)
#pragma omp single
        {
            omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event)
            {
                job->event = event;
                CHECK_EQ(pthread_create(&job->thread, NULL, fulfil, job), 0);
            }
        }
        CHECK_EQ(job->done, 1);
    }
    for (int round = 0; round < rounds; ++round)
        CHECK_EQ(pthread_join(jobs[round].thread, NULL), 0);
    return 0;
}
