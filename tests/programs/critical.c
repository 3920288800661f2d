/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 15.2 (critical): one thread at a time runs regions of the same name; regions with
 * different names do not exclude each other and may nest.
 */
#include "check.h"

int main(void) {
    long unnamed = 0, named = 0, hinted = 0, nested = 0;
    int inside = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 2000; ++i) {
#pragma omp critical
            {
                CHECK_EQ(inside++, 0);
                unnamed += 1;
                inside -= 1;
            }
#pragma omp critical(first)
            {
                named += 1;
#pragma omp critical(second)
                nested += 1;
            }
#pragma omp critical(third) hint(omp_sync_hint_contended)
            hinted += 1;
        }
    }
    const long expected = 2000L * check_threads();
    CHECK_EQ(unnamed, expected);
    CHECK_EQ(named, expected);
    CHECK_EQ(nested, expected);
    CHECK_EQ(hinted, expected);
    return 0;
}
