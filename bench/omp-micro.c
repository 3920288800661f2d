/* SPDX-License-Identifier: Apache-2.0
 *
 * omp-micro - what an OpenMP runtime costs, construct by construct. An ordinary OpenMP program: the
 * same source is built by every compiler and the binary runs under every runtime.
 */
#include "omp-micro.h"
#include "harness.h"

static const struct bench_row rows[] = {
    {"task-flat", "task", "empty tasks, one producer", 20000, TASK_PLAIN, bench_task_flat},
    {"task-all", "task", "empty tasks, every thread produces", 200000, 0, bench_task_all},
    {"task-if0", "task", "undeferred tasks: if(0)", 20000, TASK_UNDEFERRED, bench_task_flat},
    {"task-team1", "task", "empty tasks in a team of one", 20000, 0, bench_task_team1},
    {"task-untied", "task", "empty untied tasks, one producer", 20000, TASK_UNTIED,
     bench_task_flat},
    {"task-priority", "task", "empty tasks of 8 priorities, one producer", 20000, TASK_PRIORITY,
     bench_task_flat},
    {"fib", "task", "recursive fib(27), two tasks and a taskwait a level", 27, 0, bench_fib},
    {"fib-untied", "task", "the same with untied tasks", 27, 1, bench_fib},
    {"nqueens", "task", "10 queens, a task for every try", 10, 10, bench_nqueens},
    {"nqueens-if", "task", "10 queens, tasks below depth 3 undeferred by if()", 10, 3,
     bench_nqueens},
    {"graph", "task", "a random graph searched, a task for every edge", 2048, 0, bench_graph},
    {"dep-chain", "task", "one chain of inout dependences", 5000, 1, bench_chains},
    {"dep-64-chains", "task", "64 chains of inout dependences, round robin", 5000, 64,
     bench_chains},
    {"dep-wavefront", "task", "2D wavefront: in left, in up, out own", 64, 0, bench_wavefront},
    {"dep-sweeps", "task", "sweeps over 8 x 8 blocks, four neighbours each", 100, 8, bench_sweeps},
    {"dep-stencil", "task", "3-point stencil, 64 cells a step", 64, 64, bench_stencil},
    {"taskgroup", "group", "a taskgroup with one task", 2000, 0, bench_taskgroup},
    {"taskwait", "wait", "one task and a taskwait", 2000, 0, bench_taskwait},
    {"taskloop-grain1", "iteration", "taskloop grainsize(1) over 1024", 4, 1024,
     bench_taskloop_grain1},
    {"taskloop-1024", "loop", "taskloop over 1024, runtime's own grain", 50, 1024,
     bench_taskloop_default},
    {"parallel", "region", "an empty parallel region", 500, 0, bench_parallel},
    {"parallel-for", "region", "parallel for over 64, static", 500, 64, bench_parallel_for},
    {"parallel-reduction", "region", "parallel with a reduction", 500, 0, bench_parallel_reduction},
    {"parallel-nested", "region", "a region of 2 inside a region of 2", 20, 2, bench_nested},
    {"nested-one", "region", "a region of 2 inside a region of 1", 200, 1, bench_nested},
    {"barrier", "barrier", "barriers", 1000, 0, bench_barrier},
    {"single", "single", "single with its barrier", 1000, 0, bench_single},
    {"for-static", "loop", "for over 64, schedule(static)", 1000, 64, bench_for_static},
    {"for-dynamic1", "iteration", "for over 10000, schedule(dynamic,1)", 2, 10000,
     bench_for_dynamic1},
    {"for-guided", "loop", "for over 1024, schedule(guided)", 100, 1024, bench_for_guided},
    {"for-ordered", "iteration", "for over 256, schedule(static,1), all of it ordered", 10, 256,
     bench_for_ordered},
    {"critical", "section", "a critical section that all threads want", 5000, 0, bench_critical},
    {"lock-pair", "pair", "omp_set_lock and omp_unset_lock, alone", 20000, 0, bench_lock_pair},
    {"lock-contended", "pair", "a lock that all threads want", 5000, 0, bench_lock_contended},
};

int main(int argc, char **argv) {
    const struct bench_program program = {
        .rows = rows, .row_count = BENCH_COUNT(rows), .reporter = true};
    return bench_main(argc, argv, &program);
}
