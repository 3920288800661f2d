/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang -fnoopenmp-use-tls
 * test: variant=4 threads=2 SENNIT_SPLIT=4
 *
 * sennit_split_spins_kept.c - threads that are split, spin on each other, and keep threadprivate
 * variables: when splitting ends, each finds its own, and there are as many threads as before.
 */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

enum { kRegions = 6, kMost = 64 };

static long own = 3;
#pragma omp threadprivate(own)

int main(void) {
    const int threads = check_threads();
    const void *where[kMost];
    CHECK(threads <= kMost);
    omp_set_dynamic(0);
#pragma omp parallel
    {
        CHECK_EQ(own, 3);
        own = 100 + omp_get_thread_num();
        where[omp_get_thread_num()] = &own;
    }
    for (int region = 0; region < kRegions; ++region) {
        atomic_int begun = 0;
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            CHECK_EQ(omp_get_num_threads(), threads);
            CHECK(&own == where[me]);
            CHECK_EQ(own, 100 + me + 64L * region);
            atomic_fetch_add(&begun, 1);
            while (atomic_load(&begun) < threads)
                sched_yield();
            CHECK(&own == where[me]);
            own += 64;
        }
    }
    return 0;
}
