/* SPDX-License-Identifier: Apache-2.0
 * test:
 * Nested regions of one shape, again and again, need no more threads than they have at a time: a
 * region gets the team of its own level, not one that served, as large, at another.
 */
#include "check.h"

#include <pthread.h>

enum { OUTER = 2, INNER = 2, REGIONS = 20, MOST = 64 };

static pthread_t seen[MOST];
static int count;

static void note(void) {
#pragma omp critical
    {
        int i = 0;
        while (i < count && !pthread_equal(seen[i], pthread_self()))
            ++i;
        CHECK(i < MOST);
        if (i == count)
            seen[count++] = pthread_self();
    }
}

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    for (int region = 0; region < REGIONS; ++region) {
#pragma omp parallel num_threads(OUTER)
#pragma omp parallel num_threads(INNER)
        note();
    }
    CHECK_EQ(count, OUTER * INNER);
    return 0;
}
