// SPDX-License-Identifier: Apache-2.0
// Callbacks, and the calls of DLB for which there is nothing to do: they say so.
#include "dlb/callbacks.h"

#include "base/compiler.h"
#include "base/guard.h"

#include <cstddef>

namespace {

struct Callback {
    dlb_callback_t function;
    void *argument;
};
constexpr int kLast = dlb_callback_disable_cpu_set;
constinit sennit::Mutex g_mutex;
Callback g_callbacks[kLast + 1] SENNIT_GUARDED_BY(g_mutex);

bool is_callback(int which) {
    return which >= dlb_callback_set_num_threads && which <= kLast;
}

Callback callback(int which) {
    const sennit::Guard guard(g_mutex);
    return g_callbacks[which];
}

} // namespace

void sennit::dlb::tell_change(int count, const cpu_set_t *mask) {
    if (const Callback one = callback(dlb_callback_set_process_mask); one.function)
        reinterpret_cast<dlb_callback_set_process_mask_t>(one.function)(mask, one.argument);
    if (const Callback one = callback(dlb_callback_set_num_threads); one.function)
        reinterpret_cast<dlb_callback_set_num_threads_t>(one.function)(count, one.argument);
}

extern "C" {

SENNIT_EXPORT int DLB_CallbackSet(dlb_callbacks_t which, dlb_callback_t function, void *argument) {
    if (!is_callback(which))
        return DLB_ERR_NOCBK;
    const sennit::Guard guard(g_mutex);
    g_callbacks[which] = {function, argument};
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_CallbackGet(dlb_callbacks_t which, dlb_callback_t *function,
                                  void **argument) {
    if (!is_callback(which))
        return DLB_ERR_NOCBK;
    const Callback found = callback(which);
    if (function)
        *function = found.function;
    if (argument)
        *argument = found.argument;
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_GetVersion(int *major, int *minor, int *patch) {
    static constexpr int version[] = {3, 5, 0};
    int *const to[] = {major, minor, patch};
    for (int i = 0; i < 3; ++i)
        if (to[i])
            *to[i] = version[i];
    return DLB_SUCCESS;
}

// What is started inherits the pool.
SENNIT_EXPORT int DLB_PreInit(const_dlb_cpu_set_t, char ***) {
    return DLB_SUCCESS;
}

SENNIT_EXPORT int DLB_SetMaxParallelism(int) {
    return DLB_ERR_NOPOL;
}
SENNIT_EXPORT int DLB_UnsetMaxParallelism() {
    return DLB_ERR_NOPOL;
}
// As DLB itself where its option for barriers is not set.
SENNIT_EXPORT int DLB_Barrier() {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_BarrierAttach() {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_BarrierDetach() {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT dlb_barrier_t *DLB_BarrierNamedRegister(const char *, dlb_barrier_flags_t) {
    return nullptr;
}
SENNIT_EXPORT dlb_barrier_t *DLB_BarrierNamedGet(const char *, dlb_barrier_flags_t) {
    return nullptr;
}
SENNIT_EXPORT int DLB_BarrierNamed(dlb_barrier_t *) {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_BarrierNamedAttach(dlb_barrier_t *) {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_BarrierNamedDetach(dlb_barrier_t *) {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_SetObserverRole(bool) {
    return DLB_NOUPDT;
}
SENNIT_EXPORT int DLB_GetGPUAffinity(char *, std::size_t, bool) {
    return DLB_ERR_NOCOMP;
}
SENNIT_EXPORT int DLB_SetVariable(const char *, const char *) {
    return DLB_ERR_NOENT;
}
SENNIT_EXPORT int DLB_GetVariable(const char *, char *) {
    return DLB_ERR_NOENT;
}
SENNIT_EXPORT int DLB_PrintVariables(int) {
    return DLB_NOUPDT;
}
SENNIT_EXPORT int DLB_PrintShmem(int, dlb_printshmem_flags_t) {
    return DLB_NOUPDT;
}

} // extern "C"
