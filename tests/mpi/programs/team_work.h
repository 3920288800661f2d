/* SPDX-License-Identifier: Apache-2.0
 * What a region of a team needs of OpenMP: all threads call it. Each adds 1 to *sum in a critical
 * section, and so does each of `threads` tasks. */
#ifndef TEAM_WORK_H
#define TEAM_WORK_H

static void work_together(volatile long *sum, int threads) {
#pragma omp critical
    *sum += 1;
#pragma omp barrier
#pragma omp single
    for (int j = 0; j < threads; ++j) {
#pragma omp task
        {
#pragma omp atomic
            *sum += 1;
        }
    }
}

#endif
