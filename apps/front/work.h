/* SPDX-License-Identifier: Apache-2.0
 * Who works for how long. Real work counts by processor time; emulated work holds its thread and
 * counts by the clock on the wall. */
#ifndef WORK_H
#define WORK_H

#include <time.h>

/* For so many threads of this process. */
void work_setup(int threads, int emulated);
struct timespec work_begin(void);
/* What the calling thread did since then would take `seconds`, if it is emulated. Returns what it
 * took. Nothing in between may suspend the task. */
double work_end(struct timespec begun, double seconds);
/* Work of all threads since the last call, when none is working. */
typedef struct {
    double most; /* of a thread */
    double all;
} work_share;
work_share work_since(void);

#endif
