// SPDX-License-Identifier: Apache-2.0
// include/alpi.h over sennit.h and the task room.
#include "alpi.h"

#include "base/compiler.h"
#include "openmp/team/team.h"
#include "sennit.h"
#include "tasks/task/task.h"

#include <cstdio>
#include <cstdlib>
#include <sched.h>

using namespace sennit;

struct alpi_attr {
    std::uint64_t reserved;
};

namespace {

constexpr int kFeatures =
    ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND;
// Worker numbers below this are logical CPUs: libraries size tables by alpi_cpu_count once, before
// our threads exist.
constexpr int kLogicalCpus = 256;

sennit_task *handle(alpi_task *task) {
    return reinterpret_cast<sennit_task *>(task);
}
Task &task_of(alpi_task *task) {
    return *static_cast<Task *>(handle(task));
}

int from_sennit(int error) {
    switch (error) {
    case SENNIT_SUCCESS:
        return ALPI_SUCCESS;
    case SENNIT_ERR_PARAMETER:
    case SENNIT_ERR_NOT_SELF:
        return ALPI_ERR_PARAMETER;
    case SENNIT_ERR_OUTSIDE_TASK:
        return ALPI_ERR_OUTSIDE_TASK;
    case SENNIT_ERR_OUT_OF_MEMORY:
        return ALPI_ERR_OUT_OF_MEMORY;
    default:
        return ALPI_ERR_UNKNOWN;
    }
}

} // namespace

extern "C" {

SENNIT_EXPORT const char *alpi_error_string(alpi_error_t error) {
    static const char *const texts[] = {
        "Operation succeeded", "Version is incompatible", "Runtime system is not initialized",
        "Invalid parameter",   "Out of memory",           "Must run within a task",
        "Unknown error",       "Unknown feature",
    };
    static_assert(sizeof texts / sizeof *texts == ALPI_ERR_MAX);
    return error < ALPI_ERR_MAX ? texts[error] : "Error code not recognized";
}

SENNIT_EXPORT int alpi_version_check(int major, int minor) {
    return major == ALPI_VERSION_MAJOR && minor >= 0 && minor <= ALPI_VERSION_MINOR
               ? ALPI_SUCCESS
               : ALPI_ERR_VERSION;
}

SENNIT_EXPORT int alpi_version_get(int *major, int *minor) {
    if (!major || !minor)
        return ALPI_ERR_PARAMETER;
    *major = ALPI_VERSION_MAJOR;
    *minor = ALPI_VERSION_MINOR;
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_info_get(alpi_info_t query, char *buffer, size_t max_length, int *length) {
    char text[128];
    switch (query) {
    case ALPI_INFO_RUNTIME_NAME:
    case ALPI_INFO_RUNTIME_VENDOR:
        std::snprintf(text, sizeof text, "Sennit");
        break;
    case ALPI_INFO_VERSION:
        std::snprintf(text, sizeof text, "ALPI %d.%d", ALPI_VERSION_MAJOR, ALPI_VERSION_MINOR);
        break;
    case ALPI_INFO_RUNTIME_VERSION:
        std::snprintf(text, sizeof text, "Sennit %s", sennit_version());
        break;
    case ALPI_INFO_RUNTIME_FULL_VERSION:
        std::snprintf(text, sizeof text, "Sennit %s (ALPI %d.%d)", sennit_version(),
                      ALPI_VERSION_MAJOR, ALPI_VERSION_MINOR);
        break;
    default:
        return ALPI_ERR_PARAMETER;
    }
    if (!buffer || max_length == 0)
        return ALPI_ERR_PARAMETER;
    const int whole = std::snprintf(buffer, max_length, "%s", text);
    if (length)
        *length = whole;
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_feature_check(int features) {
    return (features & ~kFeatures) == 0 ? ALPI_SUCCESS : ALPI_ERR_FEATURE_UNKNOWN;
}

SENNIT_EXPORT int alpi_task_self(alpi_task **task) {
    if (!task)
        return ALPI_ERR_PARAMETER;
    sennit_task *self = nullptr;
    const int error = sennit_task_self(&self);
    *task = reinterpret_cast<alpi_task *>(self);
    return from_sennit(error);
}

SENNIT_EXPORT int alpi_task_block(alpi_task *task) {
    return from_sennit(sennit_task_suspend(handle(task)));
}

SENNIT_EXPORT int alpi_task_unblock(alpi_task *task) {
    return from_sennit(sennit_task_resume(handle(task)));
}

SENNIT_EXPORT int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t *actual_ns) {
    return from_sennit(sennit_task_wait_ns(target_ns, actual_ns));
}

SENNIT_EXPORT int alpi_task_events_increase(alpi_task *task, uint64_t increment) {
    return from_sennit(sennit_task_events_increase(handle(task), increment));
}

SENNIT_EXPORT int alpi_task_events_decrease(alpi_task *task, uint64_t decrement) {
    return from_sennit(sennit_task_events_decrease(handle(task), decrement));
}

SENNIT_EXPORT int alpi_task_events_test(alpi_task *task, uint64_t *has_events) {
    if (!task || !has_events)
        return ALPI_ERR_PARAMETER;
    // 1 stands for the body, which has not ended while the handle is valid for this question.
    *has_events = task_of(task).events.load(std::memory_order_acquire) > 1;
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_attr_create(alpi_attr_t **attr) {
    if (!attr)
        return ALPI_ERR_PARAMETER;
    *attr = static_cast<alpi_attr_t *>(std::calloc(1, sizeof(alpi_attr)));
    return *attr ? ALPI_SUCCESS : ALPI_ERR_OUT_OF_MEMORY;
}

SENNIT_EXPORT int alpi_attr_destroy(alpi_attr_t *attr) {
    if (!attr)
        return ALPI_ERR_PARAMETER;
    std::free(attr);
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_attr_init(alpi_attr_t *attr) {
    if (!attr)
        return ALPI_ERR_PARAMETER;
    *attr = alpi_attr{};
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_attr_size(uint64_t *attr_size) {
    if (!attr_size)
        return ALPI_ERR_PARAMETER;
    *attr_size = sizeof(alpi_attr);
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_task_spawn(void (*body)(void *), void *body_args,
                                  void (*completion_callback)(void *), void *completion_args,
                                  const char *label, const alpi_attr_t *) {
    return from_sennit(
        sennit_task_spawn(body, body_args, completion_callback, completion_args, label));
}

SENNIT_EXPORT int alpi_cpu_count(uint64_t *count) {
    if (!count)
        return ALPI_ERR_PARAMETER;
    *count = kLogicalCpus;
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_cpu_logical_id(uint64_t *logical_id) {
    if (!logical_id)
        return ALPI_ERR_PARAMETER;
    const sched::Worker *worker = sched::Worker::self();
    if (!worker)
        return ALPI_ERR_OUTSIDE_TASK;
    if (worker->id() >= kLogicalCpus)
        return ALPI_ERR_UNKNOWN;
    *logical_id = static_cast<std::uint64_t>(worker->id());
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_cpu_system_id(uint64_t *system_id) {
    if (!system_id)
        return ALPI_ERR_PARAMETER;
    const int cpu = sched_getcpu();
    if (cpu < 0)
        return ALPI_ERR_UNKNOWN;
    *system_id = static_cast<std::uint64_t>(cpu);
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_task_suspend_mode_set(alpi_task *task, alpi_suspend_mode_t mode,
                                             uint64_t args) {
    if (!task || mode > ALPI_SUSPEND_MODE_EVENT_SUBMIT)
        return ALPI_ERR_PARAMETER;
    Task &self = task_of(task);
    self.again_mode = static_cast<std::uint8_t>(mode);
    self.again_after_ns = args;
    return ALPI_SUCCESS;
}

SENNIT_EXPORT int alpi_task_suspend(alpi_task *task) {
    if (!task)
        return ALPI_ERR_PARAMETER;
    Task &self = task_of(task);
    if (!self.is_explicit() || self.is(Task::kUndeferred))
        return ALPI_ERR_PARAMETER; // nobody would call such a body again
    switch (self.again_mode) {
    case ALPI_SUSPEND_MODE_SUBMIT:
        task::requeue(self, task::Again::after_others); // such a task polls: others have their turn
        break;
    case ALPI_SUSPEND_MODE_TIMEOUT_SUBMIT:
        task::requeue(self, task::Again::after_time, self.again_after_ns);
        break;
    case ALPI_SUSPEND_MODE_EVENT_SUBMIT:
        task::requeue(self, task::Again::after_events);
        break;
    default:
        return ALPI_ERR_PARAMETER;
    }
    return ALPI_SUCCESS;
}

} // extern "C"
