/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb.h - the names of DLB's interface (LeWI and DROM, as DLB 3 has them) over Sennit's pools of
 * cores, so that programs and schedulers written for DLB run. Link with -ldlb from lib/sennit/dlb,
 * or put that folder in front of LD_LIBRARY_PATH of a program that is built already.
 *
 * What is different (docs/user/node.md has more): threads stay, cores move. So a program need not
 * change its number of threads: what it lends, others use at once; what it wants back, it waits for
 * in DLB_Reclaim. Calls that ask for cores by number or mask mean: some cores. Masks are cpu_set_t.
 */
#ifndef SENNIT_DLB_H
#define SENNIT_DLB_H

#include "dlb_drom.h"
#include "dlb_errors.h"
#include "dlb_types.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process takes part by itself if it was started in a pool (sennit run --pool). So `cores`,
 * `mask` and `arguments` are not used. */
int DLB_Init(int cores, const_dlb_cpu_set_t mask, const char *arguments);
int DLB_Finalize(void);
/* Before a program is started that shall share: it inherits SENNIT_POOL; nothing else to do. */
int DLB_PreInit(const_dlb_cpu_set_t mask, char ***environment);
/* Between Disable and Enable LeWI's calls do nothing and return DLB_ERR_DISBLD. */
int DLB_Enable(void);
int DLB_Disable(void);
const char *DLB_Strerror(int error);
int DLB_GetVersion(int *major, int *minor, int *patch); /* of DLB, whose names these are */

/* Threads stay when cores move, so nobody has to be told. Those for the process's mask and for the
 * number of threads are called by DLB_PollDROM_Update all the same, the others never. */
int DLB_CallbackSet(dlb_callbacks_t which, dlb_callback_t callback, void *argument);
int DLB_CallbackGet(dlb_callbacks_t which, dlb_callback_t *callback, void **argument);

/* The calling thread waits for something: until it reclaims, its core is the others'. */
int DLB_Lend(void);
int DLB_LendCpu(int core);
/* The caller goes on. Threads of its process that are idle lend their cores at once, so many at
 * most, or those of the mask. DLB_NOUPDT: none is idle on a core that it still has. */
int DLB_LendCpus(int count);
int DLB_LendCpuMask(const_dlb_cpu_set_t mask);
/* It goes on: it has a core on return, or DLB_NOUPDT says that it had lent none. */
int DLB_Reclaim(void);
int DLB_ReclaimCpu(int core);
int DLB_ReclaimCpus(int count);
int DLB_ReclaimCpuMask(const_dlb_cpu_set_t mask);
/* More threads are about to compute: own cores that others use are recalled. DLB_NOUPDT: there is
 * none to be had. A thread that has lent its core reclaims it. */
int DLB_AcquireCpu(int core);
int DLB_AcquireCpus(int count);
int DLB_AcquireCpuMask(const_dlb_cpu_set_t mask);
int DLB_AcquireCpusInMask(int count, const_dlb_cpu_set_t mask);
/* Cores of others that are free are borrowed, and returned, without being asked for: DLB_NOUPDT. */
int DLB_Borrow(void);
int DLB_BorrowCpu(int core);
int DLB_BorrowCpus(int count);
int DLB_BorrowCpuMask(const_dlb_cpu_set_t mask);
int DLB_BorrowCpusInMask(int count, const_dlb_cpu_set_t mask);
int DLB_Return(void);
int DLB_ReturnCpu(int core);
int DLB_ReturnCpuMask(const_dlb_cpu_set_t mask);

/* An own core: nobody else uses it (DLB_SUCCESS), it is on its way back (DLB_NOTED), another one
 * uses it (DLB_NOUPDT). A core of others: DLB_ERR_PERM. */
int DLB_CheckCpuAvailability(int core);

/* Sennit has no such thing, and says so; a program goes on without. */
int DLB_SetMaxParallelism(int most);
int DLB_UnsetMaxParallelism(void);
int DLB_Barrier(void);
int DLB_BarrierAttach(void);
int DLB_BarrierDetach(void);
dlb_barrier_t *DLB_BarrierNamedRegister(const char *name, dlb_barrier_flags_t flags); /* null */
dlb_barrier_t *DLB_BarrierNamedGet(const char *name, dlb_barrier_flags_t flags);      /* null */
int DLB_BarrierNamed(dlb_barrier_t *barrier);
int DLB_BarrierNamedAttach(dlb_barrier_t *barrier);
int DLB_BarrierNamedDetach(dlb_barrier_t *barrier);
int DLB_SetObserverRole(bool observes);
int DLB_GetGPUAffinity(char *text, size_t size, bool full_uuid);
int DLB_SetVariable(const char *variable, const char *value);
int DLB_GetVariable(const char *variable, char *value);
int DLB_PrintVariables(int extended);
int DLB_PrintShmem(int columns, dlb_printshmem_flags_t flags);

/* Does the process own other cores than at the last call? Then how many, and which (both may be
 * null). Else DLB_NOUPDT. */
int DLB_PollDROM(int *count, dlb_cpu_set_t mask);
/* The same, and calls the callbacks. */
int DLB_PollDROM_Update(void);

#ifdef __cplusplus
}
#endif

#endif
