/* SPDX-License-Identifier: Apache-2.0
 *
 * alpi.h - the asynchronous low-level programming interface, version 1.2: the door through which
 * task-aware libraries (TAMPI and its sisters) reach a task runtime. Such a library looks every
 * symbol up in the global scope; libsennit-omp.so exports them all. Names, signatures and numbers
 * are the interface's own, so that a library built against any ALPI 1.x header links and runs.
 *
 * Every function but alpi_error_string returns ALPI_SUCCESS or one of enum alpi_error.
 */
#ifndef ALPI_H
#define ALPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALPI_VERSION_MAJOR 1
#define ALPI_VERSION_MINOR 2

typedef enum {
    ALPI_SUCCESS = 0,
    ALPI_ERR_VERSION = 1,
    ALPI_ERR_NOT_INITIALIZED = 2,
    ALPI_ERR_PARAMETER = 3,
    ALPI_ERR_OUT_OF_MEMORY = 4,
    ALPI_ERR_OUTSIDE_TASK = 5,
    ALPI_ERR_UNKNOWN = 6,
    ALPI_ERR_FEATURE_UNKNOWN = 7,
    ALPI_ERR_MAX
} alpi_error_t;

typedef enum {
    ALPI_FEATURE_BLOCKING = 0x1,
    ALPI_FEATURE_EVENTS = 0x2,
    ALPI_FEATURE_RESOURCES = 0x4,
    ALPI_FEATURE_SUSPEND = 0x8
} alpi_feature_t;

typedef enum {
    ALPI_INFO_RUNTIME_NAME = 0,
    ALPI_INFO_RUNTIME_VENDOR = 1,
    ALPI_INFO_VERSION = 2,
    ALPI_INFO_RUNTIME_VERSION = 3,
    ALPI_INFO_RUNTIME_FULL_VERSION = 4
} alpi_info_t;

typedef enum {
    ALPI_SUSPEND_MODE_NONE = 0,
    ALPI_SUSPEND_MODE_SUBMIT = 1,
    ALPI_SUSPEND_MODE_TIMEOUT_SUBMIT = 2,
    ALPI_SUSPEND_MODE_EVENT_SUBMIT = 3
} alpi_suspend_mode_t;

struct alpi_task;
typedef struct alpi_attr alpi_attr_t;

/* A static description of `error`, never null. */
const char *alpi_error_string(alpi_error_t error);

/* ALPI_SUCCESS when a library that was built for `major`.`minor` can run on this runtime. */
int alpi_version_check(int major, int minor);
int alpi_version_get(int *major, int *minor);

/* Copy a text about the runtime into buffer[max_length], cut and terminated; *length (may be
 * null) receives the length of the whole text. */
int alpi_info_get(alpi_info_t query, char *buffer, size_t max_length, int *length);

/* ALPI_SUCCESS when every feature in `features` (or-ed alpi_feature_t) is there. */
int alpi_feature_check(int features);

/* The calling task; ALPI_ERR_OUTSIDE_TASK on a thread that the runtime does not know. */
int alpi_task_self(struct alpi_task **task);

/* Block the calling task until alpi_task_unblock; an unblock that comes first is kept. */
int alpi_task_block(struct alpi_task *task);
int alpi_task_unblock(struct alpi_task *task);

/* Block the calling task for target_ns nanoseconds; the core runs other tasks. */
int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t *actual_ns);

/* External events: dependences are released when the count is back at zero. */
int alpi_task_events_increase(struct alpi_task *task, uint64_t increment);
int alpi_task_events_decrease(struct alpi_task *task, uint64_t decrement);
int alpi_task_events_test(struct alpi_task *task, uint64_t *has_events);

/* Attributes of spawned tasks; all defaults at present. */
int alpi_attr_create(alpi_attr_t **attr);
int alpi_attr_destroy(alpi_attr_t *attr);
int alpi_attr_init(alpi_attr_t *attr);
int alpi_attr_size(uint64_t *attr_size);

/* Create an independent task; see sennit_task_spawn. */
int alpi_task_spawn(void (*body)(void *), void *body_args, void (*completion_callback)(void *),
                    void *completion_args, const char *label, const alpi_attr_t *attr);

/* How many workers there are, and which logical and operating-system CPU the caller runs on. */
int alpi_cpu_count(uint64_t *count);
int alpi_cpu_logical_id(uint64_t *logical_id);
int alpi_cpu_system_id(uint64_t *system_id);

/* Choose what happens when the body of the calling task returns after alpi_task_suspend: the same
 * body runs again at once, after a time (args: ns), or when its events are fulfilled. */
int alpi_task_suspend_mode_set(struct alpi_task *task, alpi_suspend_mode_t mode, uint64_t args);
int alpi_task_suspend(struct alpi_task *task);

#ifdef __cplusplus
}
#endif
#endif
