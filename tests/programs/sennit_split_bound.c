/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test: threads=2|4
 * test: variant=4|auto threads=2|4 SENNIT_SPLIT={variant}
 * run: omp.{program}.says.{compiler} threads=2 SENNIT_SPLIT=4
 *     pass='^sennit: SENNIT_SPLIT=4: the program binds its threads [^\n]*\n$'
 * A program that binds its threads itself, in each of the ways that there are, in its first region.
 * From then on each thread has the processors that it has asked for, although it shared a worker
 * with others.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most = 64, rounds = 20, tasks = 40 };
static int processors[most], count;

static void own_set(cpu_set_t *set) {
    CPU_ZERO(set);
    CPU_SET(processors[omp_get_thread_num() % count], set);
}

static int bind(void) {
    cpu_set_t set;
    own_set(&set);
    switch (omp_get_thread_num() % 3) {
    case 0:
        return sched_setaffinity(0, sizeof set, &set);
    case 1:
        return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    default:
        return (int)syscall(SYS_sched_setaffinity, 0L, sizeof set, &set);
    }
}

static int is_bound(void) {
    cpu_set_t wanted, set;
    own_set(&wanted);
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_EQUAL(&set, &wanted);
}

static void compute_in_tasks(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(sum)
        {
#pragma omp taskyield
#pragma omp atomic
            ++sum;
        }
    }
    CHECK(sum == tasks);
}

int main(void) {
    cpu_set_t all;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int i = 0; i < CPU_SETSIZE && count < most; ++i)
        if (CPU_ISSET(i, &all))
            processors[count++] = i;
    compute_in_tasks();
    int failed = 0;
#pragma omp parallel reduction(+ : failed)
    failed += bind() != 0 || !is_bound();
    CHECK(failed == 0);
    for (int i = 0; i < rounds; ++i) {
        compute_in_tasks();
        int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
        wrong += !is_bound();
        CHECK(wrong == 0);
    }
    return 0;
}
