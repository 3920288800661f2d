/* SPDX-License-Identifier: Apache-2.0
 * build:
 * uneven.c - regions for `sennit report`: in 20 runs of one the first thread alone has work; in 10
 * of another one, all have the same. */
#include <omp.h>

static volatile long sink;

static void work(long count) {
    for (long i = 0; i < count; ++i)
        sink = i;
}

static void one_works(void) {
#pragma omp parallel
    work(omp_get_thread_num() == 0 ? 2000000 : 0);
}

static void all_work(void) {
#pragma omp parallel
    work(500000);
}

int main(void) {
    for (int i = 0; i < 20; ++i)
        one_works();
    for (int i = 0; i < 10; ++i)
        all_work();
    return 0;
}
