/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb.h - the names of DLB's interface (LeWI and DROM, as DLB 3 has them) over Sennit's pools of
 * cores, so that programs and schedulers written for DLB run. Link with -ldlb from lib/sennit/dlb,
 * or put that folder in front of LD_LIBRARY_PATH of a program that is built already.
 *
 * What is different (docs/user/dlb.md has more): threads stay, cores move. So a program need not
 * change its number of threads: what it lends, others use at once; what it wants back, it waits for
 * in DLB_Reclaim. Calls that name cores or a number of cores mean: some cores. Masks are cpu_set_t.
 */
#ifndef SENNIT_DLB_H
#define SENNIT_DLB_H

#ifdef __cplusplus
extern "C" {
#endif

enum DLBErrorCodes {
    DLB_NOUPDT = 2, /* nothing to do */
    DLB_NOTED = 1,
    DLB_SUCCESS = 0,
    DLB_ERR_UNKNOWN = -1,
    DLB_ERR_NOINIT = -2,
    DLB_ERR_INIT = -3, /* twice */
    DLB_ERR_DISBLD = -4,
    DLB_ERR_NOSHMEM = -5, /* in no pool */
    DLB_ERR_NOPROC = -6,
    DLB_ERR_PDIRTY = -7,
    DLB_ERR_PERM = -8,
    DLB_ERR_TIMEOUT = -9,
    DLB_ERR_NOCBK = -10,
    DLB_ERR_NOENT = -11,
    DLB_ERR_NOCOMP = -12,
    DLB_ERR_REQST = -13,
    DLB_ERR_NOMEM = -14,
    DLB_ERR_NOPOL = -15, /* Sennit has nothing like it */
    DLB_ERR_NOTALP = -16
};

typedef void *dlb_cpu_set_t; /* points to a cpu_set_t, as the next one does */
typedef const void *const_dlb_cpu_set_t;

typedef enum dlb_drom_flags_e {
    DLB_DROM_FLAGS_NONE = 0,
    DLB_STEAL_CPUS = 1 << 0, /* also from processes that would keep none */
    DLB_RETURN_STOLEN = 1 << 1,
    DLB_SYNC_QUERY = 1 << 2 /* no difference: moves take effect without being asked for */
} dlb_drom_flags_t;

typedef enum dlb_printshmem_flags_e {
    DLB_COLOR_AUTO = 1,
    DLB_COLOR_ALWAYS = 2
} dlb_printshmem_flags_t;

typedef enum dlb_callbacks_e {
    dlb_callback_set_num_threads = 1,
    dlb_callback_set_active_mask = 2,
    dlb_callback_set_process_mask = 3,
    dlb_callback_add_active_mask = 4,
    dlb_callback_add_process_mask = 5,
    dlb_callback_enable_cpu = 6,
    dlb_callback_disable_cpu = 7
} dlb_callbacks_t;
typedef void (*dlb_callback_t)(void); /* any of the following */
typedef void (*dlb_callback_set_num_threads_t)(int threads, void *argument);
typedef void (*dlb_callback_set_active_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_set_process_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_add_active_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_add_process_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_enable_cpu_t)(int core, void *argument);
typedef void (*dlb_callback_disable_cpu_t)(int core, void *argument);

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
int DLB_SetVariable(const char *variable, const char *value);
int DLB_GetVariable(const char *variable, char *value);
int DLB_PrintVariables(int extended);
int DLB_PrintShmem(int columns, dlb_printshmem_flags_t flags);

/* Does the process own other cores than at the last call? Then how many, and which (both may be
 * null). Else DLB_NOUPDT. */
int DLB_PollDROM(int *count, dlb_cpu_set_t mask);
/* The same, and calls the callbacks. */
int DLB_PollDROM_Update(void);

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
