/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_stats.h - DLB's statistics, for tools that call them. Which processes there are is told; how
 * they use cores is not: `sennit top --json` has that. */
#ifndef SENNIT_DLB_STATS_H
#define SENNIT_DLB_STATS_H

#include "dlb_errors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As DLB_DROM_Attach, Detach, GetNumCpus and GetPidList. */
int DLB_Stats_Init(void);
int DLB_Stats_Finalize(void);
int DLB_Stats_GetNumCpus(int *count);
int DLB_Stats_GetPidList(int *pids, int *count, int most);
/* DLB_ERR_NOTALP. */
int DLB_Stats_GetCpuUsage(int pid, double *usage);
int DLB_Stats_GetCpuAvgUsage(int pid, double *usage);
int DLB_Stats_GetCpuUsageList(double *usages, int *count, int most);
int DLB_Stats_GetCpuAvgUsageList(double *usages, int *count, int most);
int DLB_Stats_GetNodeUsage(double *usage);
int DLB_Stats_GetNodeAvgUsage(double *usage);
int DLB_Stats_GetActiveCpus(int pid, int *count);
int DLB_Stats_GetActiveCpusList(int *cores, int *count, int most);
int DLB_Stats_GetLoadAvg(int pid, double *load);

#ifdef __cplusplus
}
#endif

#endif
