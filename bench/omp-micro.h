/* SPDX-License-Identifier: Apache-2.0
 *
 * omp-micro.h - the row functions of omp-micro. Each takes the amount of work of one call and the
 * row's parameter, and returns the number of units done (harness.h).
 */
#ifndef BENCH_OMP_MICRO_H
#define BENCH_OMP_MICRO_H

/* tasks.c */
enum task_kind { TASK_PLAIN, TASK_UNDEFERRED, TASK_UNTIED, TASK_PRIORITY };
long bench_task_flat(long tasks, long kind);
long bench_task_all(long tasks, long unused);
long bench_task_team1(long tasks, long unused);
long bench_fib(long n, long untied);
long bench_nqueens(long n, long depth);
long bench_graph(long nodes, long unused);
long bench_taskgroup(long groups, long unused);
long bench_taskwait(long waits, long unused);
long bench_taskloop_grain1(long loops, long iterations);
long bench_taskloop_default(long loops, long iterations);

/* dependences.c */
long bench_chains(long tasks, long chains);
long bench_wavefront(long side, long unused);
long bench_stencil(long steps, long cells);
long bench_sweeps(long sweeps, long side);

/* regions.c */
long bench_parallel(long regions, long unused);
long bench_parallel_for(long regions, long iterations);
long bench_parallel_reduction(long regions, long unused);
long bench_nested(long regions, long inner_threads);
long bench_barrier(long barriers, long unused);
long bench_single(long singles, long unused);
long bench_for_static(long loops, long iterations);
long bench_for_dynamic1(long loops, long iterations);
long bench_for_guided(long loops, long iterations);
long bench_for_ordered(long loops, long iterations);
long bench_critical(long sections, long unused);
long bench_lock_pair(long pairs, long unused);
long bench_lock_contended(long pairs, long unused);

#endif
