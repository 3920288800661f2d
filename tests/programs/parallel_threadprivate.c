/* SPDX-License-Identifier: Apache-2.0
 * test:
 * test: variant=split threads=2 SENNIT_SPLIT=4
 * run: omp.{program}.refused.{compiler} threads=2 SENNIT_SPLIT=4
 *     pass='SENNIT_SPLIT=4: .* has thread-local data, .* going on with 1'
 * run: omp.{program}.refused_inner.{compiler} threads=2 SENNIT_SPLIT=inner
 *     pass='SENNIT_SPLIT=inner: .* has thread-local data, .* going on with 1'
 * OpenMP 5.2, 5.2 (threadprivate) and 5.7.1 (copyin): a thread's copy lives on between two regions
 * of the same size; copyin sets every copy to the primary thread's value.
 */
#include "check.h"

static int own;
static struct {
    double x;
    int list[100];
} record;
#pragma omp threadprivate(own, record)

int main(void) {
    omp_set_dynamic(0);
#pragma omp parallel
    own = 100 + omp_get_thread_num();
    for (int round = 0; round < 50; ++round) {
#pragma omp parallel
        CHECK_EQ(own, 100 + omp_get_thread_num());
    }
    CHECK_EQ(own, 100);

    record.x = 2.5;
    record.list[99] = 17;
    own = -3;
#pragma omp parallel copyin(own, record)
    {
        CHECK_EQ(own, -3);
        CHECK(record.x == 2.5 && record.list[99] == 17);
        own = omp_get_thread_num();
        record.list[99] = own;
    }
#pragma omp parallel
    {
        CHECK_EQ(own, omp_get_thread_num());
        CHECK_EQ(record.list[99], own);
    }
    return 0;
}
