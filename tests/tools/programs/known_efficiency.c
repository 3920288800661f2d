/* SPDX-License-Identifier: Apache-2.0
 * rank: -fopenmp -I{include} -- {file('sennit-dlb')} -Wl,-rpath,{folder('sennit-dlb')}
 * Two ranks with two threads that hold times instead of computing, so that their efficiency is
 * known. In each of ten steps, the phase "steps":
 *   rank 0   both threads 40 ms
 *   rank 1   20 and 10 ms, then it waits for rank 0 in MPI_Barrier
 * With "tasks" the ranks wait in a task, and one thread runs another task of 20 ms meanwhile.
 * Rank 0 prints what TALP says of the steps, if time is counted, and how long things really took by
 * the ranks' own clocks: where others use the processors, a sleeper wakes late. */
#include <dlb_talp.h>
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of sennit.h; without Sennit they are not there. */
__attribute__((weak)) void sennit_trace_begin(const char *name, int peer, int tag, uint64_t bytes);
__attribute__((weak)) void sennit_trace_end(void);

/* Of this rank, in the steps; seconds. */
static struct {
    double elapsed;
    double held;   /* by all threads */
    double in_mpi; /* in calls */
} own;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Not by libc's function, which would suspend a task: a kernel that computes does not. */
static void hold(int milliseconds) {
    struct timespec time = {0, milliseconds * 1000000L};
    double held = -now();
    syscall(SYS_nanosleep, &time, NULL);
    held += now();
#pragma omp atomic
    own.held += held;
}

static void step(int rank) {
#pragma omp parallel num_threads(2)
    hold(rank == 0 ? 40 : omp_get_thread_num() == 0 ? 20 : 10);
    own.in_mpi -= now();
    MPI_Barrier(MPI_COMM_WORLD);
    own.in_mpi += now();
}

/* Rank 1 receives for 40 ms; its other task takes 20 of these. */
static void step_in_tasks(int rank) {
    int data = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        if (rank == 0) {
#pragma omp task shared(data)
            {
                hold(40);
                MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            }
#pragma omp task
            hold(40);
        } else {
#pragma omp task shared(data)
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
            hold(20);
        }
    }
}

/* `between`: of this rank, in TALP's region, but maybe not in the trace's phase. */
static void print_talp(dlb_monitor_t *steps, int rank, double between) {
    dlb_pop_metrics_t all;
    dlb_node_metrics_t node;
    double in_mpi = -1, useful = -1, all_between = 0, of_ranks[6];
    MPI_Gather(&own, 3, MPI_DOUBLE, of_ranks, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(&between, &all_between, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    const int error = DLB_TALP_CollectPOPMetrics(steps, &all);
    if (error != DLB_SUCCESS || DLB_TALP_CollectPOPNodeMetrics(steps, &node) != DLB_SUCCESS ||
        DLB_TALP_GetTimes(0, &in_mpi, &useful) != DLB_SUCCESS) {
        printf("{\"error\": %d}\n", error);
        return;
    }
    if (rank != 0)
        return;
    printf("{\"parallel\": %.6f, \"mpi\": %.6f, \"mpi_load_balance\": %.6f, "
           "\"mpi_communication\": %.6f, \"openmp\": %.6f, \"openmp_serial\": %.6f, "
           "\"openmp_load_balance\": %.6f, \"openmp_scheduling\": %.6f, ",
           all.parallel_efficiency, all.mpi_parallel_efficiency, all.mpi_load_balance,
           all.mpi_communication_efficiency, all.omp_parallel_efficiency,
           all.omp_serialization_efficiency, all.omp_load_balance, all.omp_scheduling_efficiency);
    printf("\"balance_in\": %.6f, \"balance_out\": %.6f, \"name\": \"%s\", \"cpus\": %d, "
           "\"ranks\": %d, \"nodes\": %d, \"parallels\": %d, \"tasks\": %d, \"measured\": %d, ",
           all.mpi_load_balance_in, all.mpi_load_balance_out, all.name, all.num_cpus,
           all.num_mpi_ranks, all.num_nodes, (int)all.num_omp_parallels, (int)all.num_omp_tasks,
           (int)all.num_measurements);
    printf("\"calls\": %d, \"node\": %d, \"node_useful\": %.6f, \"useful\": %.6f, "
           "\"run_useful\": %.6f, \"run_mpi\": %.6f, \"elapsed\": %.6f, \"between\": %.6f, ",
           (int)all.num_mpi_calls, node.processes_per_node, (double)node.total_useful_time * 1e-9,
           (double)all.useful_time * 1e-9, useful, in_mpi, (double)all.elapsed_time * 1e-9,
           all_between);
    printf("\"own\": [{\"elapsed\": %.6f, \"held\": %.6f, \"in_mpi\": %.6f}, "
           "{\"elapsed\": %.6f, \"held\": %.6f, \"in_mpi\": %.6f}]}\n",
           of_ranks[0], of_ranks[1], of_ranks[2], of_ranks[3], of_ranks[4], of_ranks[5]);
}

int main(int count, char **arguments) {
    const int in_tasks = count > 1 && strcmp(arguments[1], "tasks") == 0;
    int level;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    hold(1); /* the threads are there */
    MPI_Barrier(MPI_COMM_WORLD);
    dlb_monitor_t *const steps = DLB_MonitoringRegionRegister("steps");
    double between = -now();
    DLB_MonitoringRegionStart(steps);
    if (sennit_trace_begin)
        sennit_trace_begin("steps", -1, -1, 0);
    between += now();
    own.held = 0;
    own.elapsed = -now();
    for (int i = 0; i < 10; ++i)
        (in_tasks ? step_in_tasks : step)(rank);
    own.elapsed += now();
    between -= now();
    if (sennit_trace_end)
        sennit_trace_end();
    DLB_MonitoringRegionStop(steps);
    between += now();
    if (steps)
        print_talp(steps, rank, between);
    MPI_Finalize();
    return 0;
}
