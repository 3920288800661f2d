/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang
 * test: variant=kmp|strict threads=2 SENNIT_SPLIT=inner -- {variant}
 *
 * sennit_inner_settings.c - when regions in regions are not cut any more, they have kernel threads
 * of their own: after kmp_set_defaults() has said how many levels are active; and for
 * num_threads(strict: n) after splitting has ended, since the program binds its threads.
 */
#define _GNU_SOURCE
#include "inner_threads.h"

#include <sched.h>
#include <string.h>

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_strict(void *, int, int, int, const char *);

static void by_setting(void) {
    check_cut(ask_plainly);
    kmp_set_defaults("OMP_MAX_ACTIVE_LEVELS=2");
    CHECK_EQ(omp_get_max_active_levels(), 2);
    check_own(ask_plainly);
    kmp_set_defaults("OMP_NUM_THREADS=2");
    CHECK_EQ(omp_get_max_active_levels(), 2);
    check_own(ask_plainly);
}

static void ask_strictly(void) {
    __kmpc_push_num_threads_strict(NULL, __kmpc_global_thread_num(NULL), kInner, 2,
                                   "must not be said");
}

static void bind_one(void) {
    cpu_set_t set;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
#pragma omp parallel num_threads(kOuter)
#pragma omp single
#pragma omp task
    {
        ask_strictly();
#pragma omp parallel
        {
            CHECK_EQ(omp_get_num_threads(), kInner);
            CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
        }
    }
}

static void by_strict(void) {
    check_cut(ask_strictly);
    bind_one();
    check_own(ask_strictly);
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 2);
    if (strcmp(argv[1], "kmp") == 0)
        by_setting();
    else
        by_strict();
    return 0;
}
