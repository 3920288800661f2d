/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 18.10 (timing routines): omp_get_wtime never goes backwards on a thread and advances
 * by at least the time that was slept; omp_get_wtick is a positive fraction of a second.
 */
#include "check.h"

int main(void) {
    CHECK(omp_get_wtick() > 0 && omp_get_wtick() < 0.1);
    const double start = omp_get_wtime();
    usleep(10000);
    CHECK(omp_get_wtime() - start >= 0.0099);
#pragma omp parallel
    {
        double last = omp_get_wtime();
        for (int i = 0; i < 1000; ++i) {
            const double now = omp_get_wtime();
            CHECK(now >= last);
            last = now;
        }
    }
    return 0;
}
