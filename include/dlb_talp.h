/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_talp.h - DLB's measurements (TALP), as DLB 3.5 has them. Time is counted under `sennit run
 * --talp`, with SENNIT_TALP=on, or with --talp in DLB_ARGS or in the arguments of DLB_Init before
 * MPI_Init. Else regions are null, and calls return DLB_ERR_NOTALP.
 *
 * The efficiencies are those of `sennit report` (docs/user/see.md). Times are in nanoseconds, of
 * all threads together. Cycles and instructions are not counted: they are 0. */
#ifndef SENNIT_DLB_TALP_H
#define SENNIT_DLB_TALP_H

#include "dlb_errors.h"
#include "dlb_types.h"

#include <stdint.h>
#include <sys/types.h>

/* The region of the whole run. */
#define DLB_GLOBAL_REGION_NAME "Global"
#define DLB_GLOBAL_REGION NULL
#define DLB_MPI_REGION NULL
#define DLB_IMPLICIT_REGION NULL
#define DLB_LAST_OPEN_REGION ((void *)1)

enum { DLB_MONITOR_NAME_MAX = 128 };

/* What a region has measured in this process, up to the last start, stop or update. */
typedef struct dlb_monitor_t {
    const char *name;
    int num_cpus;   /* threads */
    float avg_cpus; /* the same, on average */
    int64_t cycles;
    int64_t instructions;
    int num_measurements; /* how often it was stopped */
    int num_resets;
    int64_t num_mpi_calls;
    int64_t num_omp_parallels; /* of several threads */
    int64_t num_omp_tasks;
    int64_t start_time; /* by CLOCK_MONOTONIC */
    int64_t stop_time;
    int64_t elapsed_time;
    int64_t useful_time;
    int64_t mpi_time;
    int64_t omp_load_imbalance_time;
    int64_t omp_scheduling_time;
    int64_t omp_serialization_time;
    void *_data;
} dlb_monitor_t;

/* Of all processes. */
typedef struct dlb_pop_metrics_t {
    char name[DLB_MONITOR_NAME_MAX];
    int num_cpus;
    int num_mpi_ranks;
    int num_nodes;
    float avg_cpus;
    double cycles;
    double instructions;
    int64_t num_measurements;
    int64_t num_mpi_calls;
    int64_t num_omp_parallels;
    int64_t num_omp_tasks;
    int64_t elapsed_time; /* of the process that was in the region longest */
    int64_t useful_time;
    int64_t mpi_time;
    int64_t omp_load_imbalance_time;
    int64_t omp_scheduling_time;
    int64_t omp_serialization_time;
    double useful_normd_app; /* times by threads: of all, the most of a process, of a node */
    double mpi_normd_app;
    double max_useful_normd_proc;
    double max_useful_normd_node;
    double mpi_normd_of_max_useful;
    float parallel_efficiency; /* MPI x OpenMP */
    float mpi_parallel_efficiency;
    float mpi_communication_efficiency;
    float mpi_load_balance; /* within nodes x between nodes */
    float mpi_load_balance_in;
    float mpi_load_balance_out;
    float omp_parallel_efficiency;
    float omp_load_balance;
    float omp_scheduling_efficiency;
    float omp_serialization_efficiency;
} dlb_pop_metrics_t;

/* Of the processes of a node. Here all that is useful or in MPI counts, and nothing else, as in
 * DLB. */
typedef struct dlb_node_metrics_t {
    char name[DLB_MONITOR_NAME_MAX];
    int node_id; /* 0 */
    int processes_per_node;
    int64_t total_useful_time;
    int64_t total_mpi_time;
    int64_t max_useful_time;
    int64_t max_mpi_time;
    float parallel_efficiency;
    float communication_efficiency;
    float load_balance;
} dlb_node_metrics_t;

typedef struct dlb_node_times_t {
    pid_t pid;
    int64_t mpi_time;
    int64_t useful_time;
} dlb_node_times_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Any process of the user: what the others on this node show, in their pool (SENNIT_POOL) or in
 * none. */
int DLB_TALP_Attach(void);
int DLB_TALP_Detach(void);
int DLB_TALP_GetNumCPUs(int *count); /* of the node */
int DLB_TALP_GetPidList(int *pids, int *count, int most);
/* Seconds of the whole run; of this process if `pid` is 0. */
int DLB_TALP_GetTimes(int pid, double *mpi_time, double *useful_time);
/* Of the global region, which `name` is to name (or null); others show nothing of theirs. */
int DLB_TALP_GetNodeTimes(const char *name, dlb_node_times_t *times, int *count, int most);
int DLB_TALP_QueryPOPNodeMetrics(const char *name, dlb_node_metrics_t *metrics);

/* This process, outside of parallel regions. */
dlb_monitor_t *DLB_MonitoringRegionGetGlobal(void);
dlb_monitor_t *DLB_MonitoringRegionGetImplicit(void);
const dlb_monitor_t *DLB_MonitoringRegionGetMPIRegion(void);
/* Null or "": a region of its own. The same name gives the same region. */
dlb_monitor_t *DLB_MonitoringRegionRegister(const char *name);
int DLB_MonitoringRegionReset(dlb_monitor_t *monitor);
int DLB_MonitoringRegionStart(dlb_monitor_t *monitor);
int DLB_MonitoringRegionStop(dlb_monitor_t *monitor);
int DLB_MonitoringRegionReport(const dlb_monitor_t *monitor); /* on stderr */
int DLB_MonitoringRegionsUpdate(void);
/* Collective among the ranks of MPI_COMM_WORLD, or among those of the node. The first of these
 * calls is one of all ranks. A rank whose call fails takes part. Without MPI: of this process. */
int DLB_TALP_CollectPOPMetrics(dlb_monitor_t *monitor, dlb_pop_metrics_t *metrics);
int DLB_TALP_CollectPOPNodeMetrics(dlb_monitor_t *monitor, dlb_node_metrics_t *metrics);
int DLB_TALP_CollectNodeMetrics(dlb_monitor_t *monitor, dlb_node_metrics_t *metrics);

#ifdef __cplusplus
}
#endif

#endif
