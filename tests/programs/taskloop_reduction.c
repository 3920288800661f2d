/* SPDX-License-Identifier: Apache-2.0
 * test, policies, split, tool:
 * OpenMP 5.2, 12.6: reduction and in_reduction clauses of a taskloop, also inside of a taskgroup
 * with task_reduction; lastprivate has the last iteration's value.
 */
#include "check.h"

static void all_forms(void) {
    for (int n = 1; n < 700; n += 99) {
        long sum = 3, least = 1000000, outer = 0;
        int last = -1, i = -1;
#pragma omp taskloop reduction(+ : sum) reduction(min : least) num_tasks(13)
        for (int k = 0; k < n; ++k) {
            sum += k;
            least = n - k < least ? n - k : least;
        }
        CHECK_EQ(sum, 3 + n * (n - 1L) / 2);
        CHECK_EQ(least, 1);
#pragma omp taskgroup task_reduction(+ : outer)
        {
#pragma omp taskloop in_reduction(+ : outer) grainsize(5) nogroup
            for (int k = 0; k < n; ++k)
                outer += 2;
#pragma omp task in_reduction(+ : outer)
            outer += 1;
        }
        CHECK_EQ(outer, 2 * n + 1);
#pragma omp taskloop lastprivate(last, i) firstprivate(n) num_tasks(4)
        for (i = 0; i < n; ++i)
            last = i * 3;
        CHECK_EQ(last, 3 * (n - 1));
        CHECK_EQ(i, n);
    }
}

int main(void) {
#pragma omp parallel
#pragma omp single
    all_forms();
#pragma omp parallel
    all_forms();
    return 0;
}
