/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.9.5: tasks with mutexinoutset on the same item exclude each other, whether they
 * are deferred or not, and a task holds the item through its scheduling points.
 */
#include "check.h"

static int item, inside, done;

static void visit(void) {
    CHECK_EQ(inside, 0);
    inside = 1;
    for (int i = 0; i < 5; ++i) {
#pragma omp taskyield
    }
    CHECK_EQ(inside, 1);
    inside = 0;
    done += 1;
}

int main(void) {
    for (int round = 0; round < 50; ++round) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 8; ++i) {
#pragma omp task depend(mutexinoutset : item)
            visit();
#pragma omp task if (0) depend(mutexinoutset : item)
            visit();
#pragma omp task untied depend(mutexinoutset : item)
            {
                visit();
#pragma omp taskyield
                visit();
            }
        }
    }
    CHECK_EQ(done, 50 * 8 * 4);
    return 0;
}
