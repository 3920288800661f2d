// SPDX-License-Identifier: Apache-2.0
// Barriers, critical sections, reductions, locks, memory, threadprivate variables, messages.
#include "openmp/sync/sync.h"
#include "openmp/kmp/kmp.h"
#include "openmp/team/league.h"

#include "base/message.h"
#include "openmp/api/api.h"
#include "openmp/env/icv.h"
#include "openmp/sync/regions.h"
#include "openmp/team/cancel.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

KMP_API void __kmpc_barrier(Ident *location, Gtid) {
    omp::barrier(SENNIT_SITE, kmp::BarrierKind{location});
}
KMP_API std::int32_t __kmpc_barrier_master_nowait(Ident *location, Gtid gtid) {
    __kmpc_barrier(location, gtid);
    return omp::here().slot->index == 0;
}
// The other threads wait in a second barrier until the master has done its part.
KMP_API std::int32_t __kmpc_barrier_master(Ident *location, Gtid gtid) {
    if (__kmpc_barrier_master_nowait(location, gtid))
        return 1;
    __kmpc_barrier(location, gtid);
    return 0;
}
KMP_API void __kmpc_end_barrier_master(Ident *location, Gtid gtid) {
    __kmpc_barrier(location, gtid);
}
KMP_API void __kmpc_flush(Ident *) {
    omp::flush(SENNIT_SITE);
}

namespace {

enum Cancelled : std::int32_t { kParallel = 1, kLoop = 2, kSections = 3, kTaskgroup = 4 };

omp::Construct construct_of(std::int32_t kind) {
    return kind == kParallel    ? omp::Construct::parallel
           : kind == kTaskgroup ? omp::Construct::taskgroup
           : kind == kSections  ? omp::Construct::sections
                                : omp::Construct::loop;
}

} // namespace

KMP_API std::int32_t __kmpc_cancel_barrier(Ident *location, Gtid) {
    return omp::barrier(SENNIT_SITE, kmp::BarrierKind{location});
}
KMP_API std::int32_t __kmpc_cancel(Ident *, Gtid, std::int32_t kind) {
    return omp::cancel(omp::here(), SENNIT_SITE, construct_of(kind));
}
KMP_API std::int32_t __kmpc_cancellationpoint(Ident *, Gtid, std::int32_t kind) {
    return omp::cancellation_point(omp::here(), SENNIT_SITE, construct_of(kind));
}
KMP_API int kmp_get_cancellation_status(int kind) {
    return omp::cancellation_point(omp::here(), construct_of(kind));
}
KMP_API int kmp_get_cancellation_status_(const int *kind) {
    return kmp_get_cancellation_status(*kind);
}

KMP_API void __kmpc_critical_with_hint(Ident *, Gtid, void *name, std::uint32_t hint) {
    omp::routine::enter(ompt::kCritical, omp::named_critical(name), hint);
}
KMP_API void __kmpc_critical(Ident *, Gtid, void *name) {
    omp::routine::enter(ompt::kCritical, omp::named_critical(name));
}
KMP_API void __kmpc_end_critical(Ident *, Gtid, void *name) {
    omp::routine::leave(ompt::kCritical, omp::named_critical(name));
}
KMP_API void __kmpc_atomic_start(void) {
    omp::routine::enter(ompt::kAtomic, omp::atomic_mutex());
}
KMP_API void __kmpc_atomic_end(void) {
    omp::routine::leave(ompt::kAtomic, omp::atomic_mutex());
}

// ---- reductions -----------------------------------------------------------------------------
// 1: combine under the critical section's lock; 2: combine with atomics.

namespace {

std::int32_t begin_reduce(ompt::Site site, const Ident *location, void *name) {
    const bool has_atomics = location && (location->flags & kmp::kAtomicReduce) != 0;
    return omp::begin_reduction(site, omp::named_critical(name), has_atomics) ==
                   omp::Combine::atomic
               ? 2
               : 1;
}

} // namespace

KMP_API std::int32_t __kmpc_reduce_nowait(Ident *location, Gtid, std::int32_t, std::size_t, void *,
                                          void (*)(void *, void *), void *name) {
    return begin_reduce(SENNIT_SITE, location, name);
}
KMP_API void __kmpc_end_reduce_nowait(Ident *, Gtid, void *name) {
    omp::end_reduction(SENNIT_SITE, omp::named_critical(name));
}
KMP_API std::int32_t __kmpc_reduce(Ident *location, Gtid, std::int32_t, std::size_t, void *,
                                   void (*)(void *, void *), void *name) {
    return begin_reduce(SENNIT_SITE, location, name);
}
KMP_API void __kmpc_end_reduce(Ident *, Gtid, void *name) {
    omp::end_reduction(SENNIT_SITE, omp::named_critical(name));
    // Not the construct's own barrier, which comes after it.
    omp::barrier(SENNIT_SITE, ompt::kBarrierImplementation);
}

// ---- locks: the same variables as with omp_* -------------------------------------------------

#define SENNIT_LOCK(type, operation, function)                                                     \
    KMP_API type __kmpc_##operation(Ident *, Gtid, void *lock) {                                   \
        return omp::routine::function(lock);                                                       \
    }
#define SENNIT_LOCK_HINT(operation, function)                                                      \
    KMP_API void __kmpc_##operation##_with_hint(Ident *, Gtid, void *lock, std::uintptr_t hint) {  \
        omp::routine::function(lock, static_cast<unsigned>(hint));                                 \
    }
SENNIT_LOCK(void, init_lock, init)
SENNIT_LOCK(void, destroy_lock, destroy)
SENNIT_LOCK(void, set_lock, set)
SENNIT_LOCK(void, unset_lock, unset)
SENNIT_LOCK(int, test_lock, test)
SENNIT_LOCK(void, init_nest_lock, init_nest)
SENNIT_LOCK(void, destroy_nest_lock, destroy_nest)
SENNIT_LOCK(void, set_nest_lock, set_nest)
SENNIT_LOCK(void, unset_nest_lock, unset_nest)
SENNIT_LOCK(int, test_nest_lock, test_nest)
SENNIT_LOCK_HINT(init_lock, init)
SENNIT_LOCK_HINT(init_nest_lock, init_nest)

// ---- memory ---------------------------------------------------------------------------------

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
                                             const omp::AllocatorTrait *traits) {
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
    omp::tell_error(SENNIT_SITE, severity == kFatal, message, message ? std::strlen(message) : 0);
    // ";file;function;line;column;;"
    char file[256];
    int line = 0;
    const bool known = location && location->source &&
                       std::sscanf(location->source, ";%255[^;];%*[^;];%d", file, &line) == 2;
    const char *text = message ? message : "encountered";
    const char *const head = severity == kFatal ? "OMP: Error: sennit" : "OMP: Warning: sennit";
    if (known)
        warn_as(head, "error directive at %s:%d: %s", file, line, text);
    else
        warn_as(head, "error directive: %s", text);
    if (severity == kFatal)
        std::exit(1);
}
// What libomptarget asks.
KMP_API int __kmpc_get_target_offload(void) {
    return static_cast<int>(global_icvs().target_offload);
}
// Whether a target task whose device is still busy can be put back and asked again: no, it waits.
KMP_API bool __kmpc_omp_has_task_team(Gtid) {
    return false;
}
KMP_API void **__kmpc_omp_get_target_async_handle_ptr(Gtid) {
    return nullptr;
}
KMP_API int __kmpc_pause_resource(int kind) {
    return omp_pause_resource_all(kind);
}
