/* SPDX-License-Identifier: Apache-2.0
 *
 * regions.c - rows about parallel regions, worksharing and synchronisation.
 */
#include "harness.h"
#include "omp-micro.h"

#include <omp.h>

long bench_parallel(long regions, long unused) {
    (void)unused;
    long members = 0;
    for (long i = 0; i < regions; ++i) {
#pragma omp parallel
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            ++members;
    }
    bench_check(members == regions, "every region has a last member");
    return regions;
}

long bench_parallel_for(long regions, long iterations) {
    static unsigned char seen[1 << 16];
    for (long i = 0; i < iterations; ++i)
        seen[i] = 0;
    for (long region = 0; region < regions; ++region) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < iterations; ++i)
            ++seen[i];
    }
    for (long i = 0; i < iterations; ++i)
        bench_check(seen[i] == (unsigned char)regions, "iterations of parallel for");
    return regions;
}

long bench_parallel_reduction(long regions, long unused) {
    (void)unused;
    long members = 0;
    for (long i = 0; i < regions; ++i) {
#pragma omp parallel reduction(+ : members)
        ++members;
    }
    bench_check(members == regions * omp_get_max_threads(), "reduction");
    return regions;
}

/* On two cores an inner region of two fits a core each when the outer has one thread; when that has
 * two, the threads of a region share a core and every region is two switches of it at least. */
long bench_nested(long regions, long outer_threads) {
    enum { INNER_THREADS = 2 };
    omp_set_max_active_levels(2);
    long members = 0;
#pragma omp parallel num_threads((int)outer_threads) reduction(+ : members)
    for (long i = 0; i < regions; ++i) {
#pragma omp parallel num_threads(INNER_THREADS) reduction(+ : members)
        ++members;
    }
    bench_check(members == regions * INNER_THREADS * outer_threads, "members of nested regions");
    return regions;
}

long bench_barrier(long barriers, long unused) {
    (void)unused;
#pragma omp parallel
    for (long i = 0; i < barriers; ++i) {
#pragma omp barrier
    }
    return barriers;
}

long bench_single(long singles, long unused) {
    (void)unused;
    long executed = 0;
#pragma omp parallel
    for (long i = 0; i < singles; ++i) {
#pragma omp single
        ++executed;
    }
    bench_check(executed == singles, "single");
    return singles;
}

/* One function per schedule: a schedule kind is part of the source. */
#define LOOP_ROW(function, kind)                                                                   \
    static long function(long loops, long iterations) {                                            \
        long sum = 0;                                                                              \
        _Pragma("omp parallel reduction(+ : sum)") for (long loop = 0; loop < loops; ++loop) {     \
            _Pragma(kind) for (long i = 0; i < iterations; ++i) sum += i;                          \
        }                                                                                          \
        bench_check(sum == loops * (iterations * (iterations - 1) / 2), "sum over a loop");        \
        return loops;                                                                              \
    }
LOOP_ROW(loop_static, "omp for schedule(static)")
LOOP_ROW(loop_dynamic1, "omp for schedule(dynamic, 1)")
LOOP_ROW(loop_guided, "omp for schedule(guided)")

long bench_for_static(long loops, long iterations) {
    return loop_static(loops, iterations);
}

long bench_for_dynamic1(long loops, long iterations) {
    return loop_dynamic1(loops, iterations) * iterations;
}

long bench_for_guided(long loops, long iterations) {
    return loop_guided(loops, iterations);
}

long bench_for_ordered(long loops, long iterations) {
    long next = 0;
#pragma omp parallel
    for (long loop = 0; loop < loops; ++loop) {
#pragma omp for ordered schedule(static, 1)
        for (long i = 0; i < iterations; ++i) {
#pragma omp ordered
            next += next % iterations == i;
        }
    }
    bench_check(next == loops * iterations, "order of iterations");
    return loops * iterations;
}

long bench_critical(long sections, long unused) {
    (void)unused;
    const int threads = omp_get_max_threads();
    const long each = sections / threads;
    long entered = 0;
#pragma omp parallel
    for (long i = 0; i < each; ++i) {
#pragma omp critical
        ++entered;
    }
    bench_check(entered == each * threads, "critical sections entered");
    return entered;
}

long bench_lock_pair(long pairs, long unused) {
    (void)unused;
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (long i = 0; i < pairs; ++i) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return pairs;
}

long bench_lock_contended(long pairs, long unused) {
    (void)unused;
    const int threads = omp_get_max_threads();
    const long each = pairs / threads;
    long entered = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (long i = 0; i < each; ++i) {
        omp_set_lock(&lock);
        ++entered;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    bench_check(entered == each * threads, "locked sections entered");
    return entered;
}
