/* SPDX-License-Identifier: Apache-2.0
 * test: variant=close|spread threads=2|4 SENNIT_SPLIT=inner OMP_PLACES=threads
 *     OMP_PROC_BIND={variant}
 *
 * sennit_inner_places.c - threads with places under SENNIT_SPLIT=inner: a worker that helps with
 * another one's inner region stays at its own place, and the thread that it runs is there.
 */
#define _GNU_SOURCE
#include "affinity.h"

#include <sys/syscall.h>

enum { kTries = 2000 };

/* How many threads of a region in a task others have run. */
static int helped(void) {
    int others = 0;
#pragma omp parallel shared(others)
    {
        const int place = omp_get_place_num();
        check_bound_to(place);
#pragma omp barrier
#pragma omp single
#pragma omp task shared(others)
        {
            const long me = syscall(SYS_gettid);
#pragma omp parallel num_threads(8) reduction(+ : others)
            {
                check_bound_to(omp_get_place_num());
                usleep(1000);
                others += syscall(SYS_gettid) != me;
            }
        }
        CHECK_EQ(omp_get_place_num(), place);
        check_bound_to(place);
    }
    return others;
}

int main(void) {
    int tries = 0;
    for (int times = 0; times < 10;) {
        times += helped() != 0;
        CHECK(++tries < kTries);
    }
    return 0;
}
