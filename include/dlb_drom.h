/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_drom.h - DLB's calls for resource managers, over Sennit's pools (dlb.h). */
#ifndef SENNIT_DLB_DROM_H
#define SENNIT_DLB_DROM_H

#include "dlb_errors.h"
#include "dlb_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For another process, such as a resource manager: look at the pool of SENNIT_POOL. */
int DLB_DROM_Attach(void);
int DLB_DROM_Detach(void);
int DLB_DROM_GetNumCpus(int *count);
/* Those that share cores; as many as fit. */
int DLB_DROM_GetPidList(int *pids, int *count, int most);
/* The cores that it owns. Process 0 is the caller. */
int DLB_DROM_GetProcessMask(int pid, dlb_cpu_set_t mask, dlb_drom_flags_t flags);
/* It owns these cores from now on, and no others. Cores of others need DLB_STEAL_CPUS. It holds
 * until a program joins or leaves the pool. */
int DLB_DROM_SetProcessMask(int pid, const_dlb_cpu_set_t mask, dlb_drom_flags_t flags);
/* The same with a list of cores, such as "0-3,8"; DLB_ERR_PERM: it is none. */
int DLB_DROM_SetProcessMaskStr(int pid, const char *mask, dlb_drom_flags_t flags);
/* Around a process that is about to start: it takes part by its environment, and gets its share
 * when it does. DLB_ERR_PERM: the mask has cores that are not the pool's. Afterwards, what is left
 * of it is cleared away. */
int DLB_DROM_PreInit(int pid, const_dlb_cpu_set_t mask, dlb_drom_flags_t flags,
                     char ***environment);
int DLB_DROM_PostFinalize(int pid, dlb_drom_flags_t flags);
int DLB_DROM_RecoverStolenCpus(int pid);

#ifdef __cplusplus
}
#endif

#endif
