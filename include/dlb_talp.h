/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_talp.h - DLB's measurements (TALP), for programs that call them: Sennit does not measure
 * that way (sennit report does), so there is no monitor, and all calls return DLB_ERR_NOTALP. */
#ifndef SENNIT_DLB_TALP_H
#define SENNIT_DLB_TALP_H

#include "dlb_errors.h"
#include "dlb_types.h"

#include <stdint.h>

#define DLB_GLOBAL_REGION_NAME "Global"
#define DLB_GLOBAL_REGION NULL
#define DLB_MPI_REGION NULL
#define DLB_IMPLICIT_REGION NULL
#define DLB_LAST_OPEN_REGION ((void *)1)

/* The names that programs read; nobody ever gets one. */
typedef struct dlb_monitor_t {
    const char *name;
    int num_cpus;
    float avg_cpus;
    int64_t cycles;
    int64_t instructions;
    int num_measurements;
    int num_resets;
    int64_t num_mpi_calls;
    int64_t num_omp_parallels;
    int64_t num_omp_tasks;
    int64_t start_time;
    int64_t stop_time;
    int64_t elapsed_time;
    int64_t useful_time;
    int64_t mpi_time;
    int64_t omp_load_imbalance_time;
    int64_t omp_scheduling_time;
    int64_t omp_serialization_time;
} dlb_monitor_t;

#ifdef __cplusplus
extern "C" {
#endif

int DLB_TALP_Attach(void);
int DLB_TALP_Detach(void);
int DLB_TALP_GetNumCPUs(int *count);
int DLB_TALP_GetPidList(int *pids, int *count, int most);
int DLB_TALP_GetTimes(int pid, double *mpi_time, double *useful_time);
/* Null. */
dlb_monitor_t *DLB_MonitoringRegionGetGlobal(void);
dlb_monitor_t *DLB_MonitoringRegionGetImplicit(void);
const dlb_monitor_t *DLB_MonitoringRegionGetMPIRegion(void);
dlb_monitor_t *DLB_MonitoringRegionRegister(const char *name);
int DLB_MonitoringRegionReset(dlb_monitor_t *monitor);
int DLB_MonitoringRegionStart(dlb_monitor_t *monitor);
int DLB_MonitoringRegionStop(dlb_monitor_t *monitor);
int DLB_MonitoringRegionReport(const dlb_monitor_t *monitor);
int DLB_MonitoringRegionsUpdate(void);

#ifdef __cplusplus
}
#endif

#endif
