// SPDX-License-Identifier: Apache-2.0
// Barriers, critical sections, reductions, locks, memory, threadprivate variables, messages.
#include "omp/sync.h"
#include "omp/kmp/kmp.h"
#include "omp/target.h"

#include "base/message.h"
#include "omp/cancel.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

KMP_API void __kmpc_barrier(Ident *, Gtid) {
    omp::barrier(omp::here());
}
KMP_API std::int32_t __kmpc_barrier_master_nowait(Ident *, Gtid) {
    sched::Worker &worker = omp::here();
    omp::barrier(worker);
    return worker.slot->index == 0;
}
// The other threads wait in a second barrier until the master has done its part.
KMP_API std::int32_t __kmpc_barrier_master(Ident *location, Gtid gtid) {
    if (__kmpc_barrier_master_nowait(location, gtid))
        return 1;
    omp::barrier(omp::here());
    return 0;
}
KMP_API void __kmpc_end_barrier_master(Ident *, Gtid) {
    omp::barrier(omp::here());
}
KMP_API void __kmpc_flush(Ident *) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

namespace {

// 1 parallel, 2 loop, 3 sections, 4 taskgroup.
omp::Construct construct_of(std::int32_t kind) {
    return kind == 1   ? omp::Construct::parallel
           : kind == 4 ? omp::Construct::taskgroup
                       : omp::Construct::worksharing;
}

} // namespace

KMP_API std::int32_t __kmpc_cancel_barrier(Ident *, Gtid) {
    return omp::barrier(omp::here());
}
KMP_API std::int32_t __kmpc_cancel(Ident *, Gtid, std::int32_t kind) {
    return omp::cancel(omp::here(), construct_of(kind));
}
KMP_API std::int32_t __kmpc_cancellationpoint(Ident *, Gtid, std::int32_t kind) {
    return omp::cancellation_point(omp::here(), construct_of(kind));
}
KMP_API int kmp_get_cancellation_status(int kind) {
    return omp::cancellation_point(omp::here(), construct_of(kind));
}
KMP_API int kmp_get_cancellation_status_(const int *kind) {
    return kmp_get_cancellation_status(*kind);
}

KMP_API void __kmpc_critical(Ident *, Gtid, void *name) {
    omp::named_critical(name).lock();
}
KMP_API void __kmpc_critical_with_hint(Ident *, Gtid, void *name, std::uint32_t) {
    omp::named_critical(name).lock();
}
KMP_API void __kmpc_end_critical(Ident *, Gtid, void *name) {
    omp::named_critical(name).unlock();
}
KMP_API void __kmpc_atomic_start(void) {
    omp::atomic_mutex().lock();
}
KMP_API void __kmpc_atomic_end(void) {
    omp::atomic_mutex().unlock();
}

// ---- reductions -----------------------------------------------------------------------------
// 1: combine under the critical section's lock; 2: combine with atomics.

namespace {

enum Method : std::int32_t { kAlone = 0, kCritical = 1, kAtomic = 2 };
SENNIT_TLS Method t_method; // between begin and end no code runs that could switch fibers

std::int32_t begin_reduce(const Ident *location, void *name) {
    Method method = kAtomic;
    if (omp::here().slot->group->size == 1)
        method = kAlone;
    else if (!location || (location->flags & kmp::kAtomicReduce) == 0)
        method = kCritical;
    if (method == kCritical)
        omp::named_critical(name).lock();
    t_method = method;
    return method == kAtomic ? 2 : 1;
}

void end_reduce(void *name) {
    if (t_method == kCritical)
        omp::named_critical(name).unlock();
}

} // namespace

KMP_API std::int32_t __kmpc_reduce_nowait(Ident *location, Gtid, std::int32_t, std::size_t, void *,
                                          void (*)(void *, void *), void *name) {
    return begin_reduce(location, name);
}
KMP_API void __kmpc_end_reduce_nowait(Ident *, Gtid, void *name) {
    end_reduce(name);
}
KMP_API std::int32_t __kmpc_reduce(Ident *location, Gtid, std::int32_t, std::size_t, void *,
                                   void (*)(void *, void *), void *name) {
    return begin_reduce(location, name);
}
KMP_API void __kmpc_end_reduce(Ident *, Gtid, void *name) {
    end_reduce(name);
    omp::barrier(omp::here());
}

// ---- locks: the same variables as with omp_* -------------------------------------------------

#define SENNIT_LOCK(type, operation)                                                               \
    extern "C" type omp_##operation(void *lock);                                                   \
    KMP_API type __kmpc_##operation(Ident *, Gtid, void *lock) {                                   \
        return omp_##operation(lock);                                                              \
    }
SENNIT_LOCK(void, init_lock)
SENNIT_LOCK(void, destroy_lock)
SENNIT_LOCK(void, set_lock)
SENNIT_LOCK(void, unset_lock)
SENNIT_LOCK(int, test_lock)
SENNIT_LOCK(void, init_nest_lock)
SENNIT_LOCK(void, destroy_nest_lock)
SENNIT_LOCK(void, set_nest_lock)
SENNIT_LOCK(void, unset_nest_lock)
SENNIT_LOCK(int, test_nest_lock)
KMP_API void __kmpc_init_lock_with_hint(Ident *, Gtid, void *lock, std::uintptr_t) {
    omp_init_lock(lock);
}
KMP_API void __kmpc_init_nest_lock_with_hint(Ident *, Gtid, void *lock, std::uintptr_t) {
    omp_init_nest_lock(lock);
}

// ---- memory ---------------------------------------------------------------------------------

extern "C" {
void *omp_alloc(std::size_t size, std::uintptr_t allocator);
void *omp_aligned_alloc(std::size_t align, std::size_t size, std::uintptr_t allocator);
void *omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator);
void *omp_realloc(void *block, std::size_t size, std::uintptr_t to, std::uintptr_t from);
void omp_free(void *block, std::uintptr_t allocator);
std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void *traits);
void omp_destroy_allocator(std::uintptr_t allocator);
void omp_set_default_allocator(std::uintptr_t allocator);
std::uintptr_t omp_get_default_allocator(void);
}

KMP_API void *__kmpc_alloc(Gtid, std::size_t size, std::uintptr_t allocator) {
    return omp_alloc(size, allocator);
}
KMP_API void *__kmpc_aligned_alloc(Gtid, std::size_t align, std::size_t size,
                                   std::uintptr_t allocator) {
    return omp_aligned_alloc(align, size, allocator);
}
KMP_API void *__kmpc_calloc(Gtid, std::size_t count, std::size_t size, std::uintptr_t allocator) {
    return omp_calloc(count, size, allocator);
}
KMP_API void *__kmpc_realloc(Gtid, void *block, std::size_t size, std::uintptr_t to,
                             std::uintptr_t from) {
    return omp_realloc(block, size, to, from);
}
KMP_API void __kmpc_free(Gtid, void *block, std::uintptr_t allocator) {
    omp_free(block, allocator);
}
KMP_API std::uintptr_t __kmpc_init_allocator(Gtid, std::uintptr_t space, int count,
                                             const void *traits) {
    return omp_init_allocator(space, count, traits);
}
KMP_API void __kmpc_destroy_allocator(Gtid, std::uintptr_t allocator) {
    omp_destroy_allocator(allocator);
}
KMP_API void __kmpc_set_default_allocator(Gtid, std::uintptr_t allocator) {
    omp_set_default_allocator(allocator);
}
KMP_API std::uintptr_t __kmpc_get_default_allocator(Gtid) {
    return omp_get_default_allocator();
}

// ---- messages -------------------------------------------------------------------------------

KMP_API void __kmpc_error(const Ident *location, int severity, const char *message) {
    constexpr int kFatal = 2;
    // ";file;function;line;column;;"
    char file[256];
    int line = 0;
    const bool known = location && location->source &&
                       std::sscanf(location->source, ";%255[^;];%*[^;];%d", file, &line) == 2;
    const char *text = message ? message : "encountered";
    if (known)
        warn("error directive at %s:%d: %s", file, line, text);
    else
        warn("error directive: %s", text);
    if (severity == kFatal)
        std::exit(1);
}
// What libomptarget asks.
KMP_API int __kmpc_get_target_offload(void) {
    return static_cast<int>(omp::target_offload());
}
// Whether a target task whose device is still busy can be put back and asked again: no, it waits.
KMP_API bool __kmpc_omp_has_task_team(Gtid) {
    return false;
}
KMP_API void **__kmpc_omp_get_target_async_handle_ptr(Gtid) {
    return nullptr;
}
extern "C" int omp_pause_resource_all(int kind);
KMP_API int __kmpc_pause_resource(int kind) {
    return omp_pause_resource_all(kind);
}
