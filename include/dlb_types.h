/* SPDX-License-Identifier: Apache-2.0
 *
 * dlb_types.h - masks, flags and callbacks of dlb.h and its sisters. */
#ifndef SENNIT_DLB_TYPES_H
#define SENNIT_DLB_TYPES_H

typedef void *dlb_cpu_set_t; /* points to a cpu_set_t, as the next one does */
typedef const void *const_dlb_cpu_set_t;

enum { DLB_DELETE_REQUESTS = 0 }; /* how many, for the calls that ask for cores */
enum { DLB_MAX_CPUS = 0x7fff };

typedef enum dlb_drom_flags_e {
    DLB_DROM_FLAGS_NONE = 0,
    DLB_STEAL_CPUS = 1 << 0, /* also from processes that would keep none */
    DLB_RETURN_STOLEN = 1 << 1,
    /* No difference: moves take effect without being asked for. */
    DLB_SYNC_QUERY = 1 << 2,
    DLB_SYNC_NOW = 1 << 3,
    DLB_NO_SYNC = 1 << 4,
    DLB_FREE_CPUS_SLURM = 1 << 5
} dlb_drom_flags_t;

typedef enum dlb_printshmem_flags_e {
    DLB_COLOR_AUTO = 1,
    DLB_COLOR_ALWAYS = 2
} dlb_printshmem_flags_t;

/* There are no barriers: pointers to one are null. */
typedef struct dlb_barrier_t dlb_barrier_t;
typedef enum dlb_barrier_flags_e {
    DLB_BARRIER_LEWI_OFF = 0,
    DLB_BARRIER_LEWI_ON = 1 << 0,
    DLB_BARRIER_LEWI_RUNTIME = 1 << 1
} dlb_barrier_flags_t;

typedef enum dlb_callbacks_e {
    dlb_callback_set_num_threads = 1,
    dlb_callback_set_active_mask = 2,
    dlb_callback_set_process_mask = 3,
    dlb_callback_add_active_mask = 4,
    dlb_callback_add_process_mask = 5,
    dlb_callback_enable_cpu = 6,
    dlb_callback_disable_cpu = 7,
    dlb_callback_enable_cpu_set = 8,
    dlb_callback_disable_cpu_set = 9
} dlb_callbacks_t;
typedef void (*dlb_callback_t)(void); /* any of the following */
typedef void (*dlb_callback_set_num_threads_t)(int threads, void *argument);
typedef void (*dlb_callback_set_active_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_set_process_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_add_active_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_add_process_mask_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_enable_cpu_t)(int core, void *argument);
typedef void (*dlb_callback_disable_cpu_t)(int core, void *argument);
typedef void (*dlb_callback_enable_cpu_set_t)(const_dlb_cpu_set_t mask, void *argument);
typedef void (*dlb_callback_disable_cpu_set_t)(const_dlb_cpu_set_t mask, void *argument);

#endif
