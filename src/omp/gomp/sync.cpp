// SPDX-License-Identifier: Apache-2.0
// Barriers, critical sections, cancellation points, memory and messages.
#include "omp/gomp/gomp.h"

#include "base/message.h"
#include "omp/api/routines.h"
#include "omp/sync/directives.h"
#include "omp/sync/lock_routines.h"
#include "omp/sync/regions.h"
#include "omp/sync/sync.h"
#include "omp/team/cancel.h"

#include <cstddef>
#include <cstdlib>

using namespace sennit;

GOMP_API void GOMP_barrier(void) {
    omp::barrier(SENNIT_SITE, ompt::kBarrierExplicit);
}

GOMP_API bool GOMP_barrier_cancel(void) {
    return omp::barrier(SENNIT_SITE, ompt::kBarrierExplicit);
}

namespace {

enum Cancelled : int { kParallel = 1, kLoop = 2, kSections = 4, kTaskgroup = 8 };

omp::Construct construct_of(int which) {
    return which == kParallel    ? omp::Construct::parallel
           : which == kTaskgroup ? omp::Construct::taskgroup
           : which == kLoop      ? omp::Construct::loop
                                 : omp::Construct::sections;
}

} // namespace

GOMP_API bool GOMP_cancellation_point(int which) {
    return omp::cancellation_point(omp::here(), SENNIT_SITE, construct_of(which));
}
GOMP_API bool GOMP_cancel(int which, bool condition) {
    if (!condition)
        return omp::cancellation_point(omp::here(), SENNIT_SITE, construct_of(which));
    return omp::cancel(omp::here(), SENNIT_SITE, construct_of(which));
}

GOMP_API void GOMP_critical_start(void) {
    omp::routine::enter(ompt::kCritical, omp::default_critical());
}
GOMP_API void GOMP_critical_end(void) {
    omp::routine::leave(ompt::kCritical, omp::default_critical());
}
GOMP_API void GOMP_critical_name_start(void **word) {
    omp::routine::enter(ompt::kCritical, omp::named_critical(word));
}
GOMP_API void GOMP_critical_name_end(void **word) {
    omp::routine::leave(ompt::kCritical, omp::named_critical(word));
}
GOMP_API void GOMP_atomic_start(void) {
    omp::routine::enter(ompt::kAtomic, omp::atomic_mutex());
}
GOMP_API void GOMP_atomic_end(void) {
    omp::routine::leave(ompt::kAtomic, omp::atomic_mutex());
}

GOMP_API void *GOMP_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
GOMP_API void GOMP_free(void *pointer, std::uintptr_t allocator) {
    omp_free(pointer, allocator);
}

// `#pragma omp error at(execution)`; the text is not terminated.
namespace {

void say(const char *text, std::size_t length) {
    if (text)
        warn("error directive: %.*s", static_cast<int>(length), text);
    else
        warn("error directive encountered");
}

} // namespace

GOMP_API void GOMP_warning(const char *text, std::size_t length) {
    omp::tell_error(SENNIT_SITE, false, text, length);
    say(text, length);
}
GOMP_API void GOMP_error(const char *text, std::size_t length) {
    omp::tell_error(SENNIT_SITE, true, text, length);
    say(text, length);
    std::exit(1);
}

// Offload images announce themselves from constructors. There are no devices to load them on.
GOMP_API void GOMP_offload_register_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_register(const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister(const void *, int, const void *) {}
