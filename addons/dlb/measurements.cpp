// SPDX-License-Identifier: Apache-2.0
// DLB's statistics of cores (include/dlb_stats.h): who is there is told, times are not.
#include "dlb.h"
#include "dlb_stats.h"

#include "base/compiler.h"

extern "C" {

SENNIT_EXPORT int DLB_Stats_Init() {
    return DLB_DROM_Attach();
}
SENNIT_EXPORT int DLB_Stats_Finalize() {
    return DLB_DROM_Detach();
}
SENNIT_EXPORT int DLB_Stats_GetNumCpus(int *count) {
    return DLB_DROM_GetNumCpus(count);
}
SENNIT_EXPORT int DLB_Stats_GetPidList(int *pids, int *count, int most) {
    return DLB_DROM_GetPidList(pids, count, most);
}
SENNIT_EXPORT int DLB_Stats_GetCpuUsage(int, double *) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetCpuAvgUsage(int, double *) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetCpuUsageList(double *, int *, int) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetCpuAvgUsageList(double *, int *, int) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetNodeUsage(double *) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetNodeAvgUsage(double *) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetActiveCpus(int, int *) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetActiveCpusList(int *, int *, int) {
    return DLB_ERR_NOTALP;
}
SENNIT_EXPORT int DLB_Stats_GetLoadAvg(int, double *) {
    return DLB_ERR_NOTALP;
}

} // extern "C"
