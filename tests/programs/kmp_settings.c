/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang
 * test:
 * test: variant=active|passive threads=2 OMP_WAIT_POLICY={variant}
 *
 * LLVM's kmp_* routines: settings that are read back, kmp_set_defaults in the place of environment
 * variables, sets of processors; and environment variables that main() sets before the first use.
 */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <sched.h>
#include <string.h>

int __kmpc_get_target_offload(void);
int kmp_set_thread_affinity_mask_initial(void);

static int region_size(void) {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static void environment(void) {
    omp_sched_t kind;
    int chunk;
    setenv("OMP_SCHEDULE", "guided,5", 1);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, omp_sched_guided);
    CHECK_EQ(chunk, 5);
    setenv("OMP_SCHEDULE", "static", 1); /* too late */
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, omp_sched_guided);
}

static void defaults(void) {
    kmp_set_defaults("OMP_NUM_THREADS=3|OMP_DYNAMIC=false");
    CHECK_EQ(region_size(), 3);
    kmp_set_defaults("OMP_NUM_THREADS=2");
    CHECK_EQ(region_size(), 2);
    kmp_set_defaults("OMP_TARGET_OFFLOAD=Disabled");
    CHECK_EQ(__kmpc_get_target_offload(), 0);
    kmp_set_defaults("OMP_TARGET_OFFLOAD=mandatory");
    CHECK_EQ(__kmpc_get_target_offload(), 2);
    kmp_set_defaults("OMP_TARGET_OFFLOAD=default");
    CHECK_EQ(__kmpc_get_target_offload(), 1);
    kmp_set_defaults("no list");
}

static void settings(void) {
    const char *policy = getenv("OMP_WAIT_POLICY");
    CHECK_EQ(kmp_get_blocktime(), !policy                         ? 200
                                  : strcmp(policy, "active") == 0 ? INT_MAX
                                                                  : 0); /* ms */
    kmp_set_blocktime(0);
    CHECK_EQ(kmp_get_blocktime(), 0);
    kmp_set_blocktime(7);
    CHECK_EQ(kmp_get_blocktime(), 7);
    kmp_set_library_throughput();
    CHECK_EQ(kmp_get_library(), 3);
    kmp_set_library_turnaround();
    CHECK_EQ(kmp_get_library(), 2);
    CHECK(kmp_get_stacksize_s() >= 16384);
    kmp_set_disp_num_buffers(5);
    kmp_set_warnings_off();
    kmp_set_warnings_on();
}

static void processors(void) {
    cpu_set_t before, now;
    kmp_affinity_mask_t mask, all;
    sched_getaffinity(0, sizeof before, &before);
    int first = 0;
    while (!CPU_ISSET(first, &before))
        ++first;
    CHECK(kmp_get_affinity_max_proc() > first);

    kmp_create_affinity_mask(&all);
    CHECK_EQ(kmp_get_affinity(&all), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc(first, &all), 1);

    kmp_create_affinity_mask(&mask);
    CHECK_EQ(kmp_get_affinity_mask_proc(first, &mask), 0);
    CHECK_EQ(kmp_set_affinity_mask_proc(first, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc(first, &mask), 1);
    CHECK_EQ(kmp_set_affinity_mask_proc(-1, &mask), -1);
    CHECK_EQ(kmp_set_affinity(&mask), 0);
    sched_getaffinity(0, sizeof now, &now);
    CHECK_EQ(CPU_COUNT(&now), 1);
    CHECK(CPU_ISSET(first, &now));
    CHECK_EQ(kmp_unset_affinity_mask_proc(first, &mask), 0);
    CHECK_EQ(kmp_get_affinity_mask_proc(first, &mask), 0);

    CHECK_EQ(kmp_set_affinity(&all), 0);
    sched_getaffinity(0, sizeof now, &now);
    CHECK(CPU_EQUAL(&now, &before));
    kmp_destroy_affinity_mask(&mask);
    kmp_destroy_affinity_mask(&all);
}

int main(void) {
    environment();
    defaults();
    settings();
    processors();
    return 0;
}
