/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -ldl
 * run: omp.{program}.forced.{compiler}.t{threads} KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE=true
 * run: omp.{program}.split.{compiler} threads=2 KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE=true
 * SENNIT_SPLIT=auto run: omp.{program}.opened.{compiler} threads=2 --
 * {bin}/{compiler}/libsuperlu_dist.so.part Each thread's iterations ascend, though the schedule
 * does not say it: the variable of LLVM's runtime does, or a library is loaded that counts on it.
 * [LIBRARY]
 */
#include "check.h"

#include <dlfcn.h>
#include <unistd.h>

/* The first quarter takes longer than the rest. So threads that steal go back to it. */
#define COUNT 80
static int descents;
static void meet(int i, int *last) {
    if (i < *last)
#pragma omp atomic
        ++descents;
    *last = i;
    usleep(i < COUNT / 4 ? 300 : 1);
}

int main(int argc, char **argv) {
    CHECK(argc < 2 || dlopen(argv[1], RTLD_NOW) != NULL);
    int met[COUNT] = {0};
#pragma omp parallel
    {
        int last = -1;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < COUNT; ++i) {
            meet(i, &last);
            ++met[i];
        }
        last = -1;
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < COUNT; ++i) {
            meet(i, &last);
            ++met[i];
        }
        last = -1;
#pragma omp for schedule(guided)
        for (int i = 0; i < COUNT; ++i) {
            meet(i, &last);
            ++met[i];
        }
    }
    CHECK_EQ(descents, 0);
    for (int i = 0; i < COUNT; ++i)
        CHECK_EQ(met[i], 3);
    return 0;
}
