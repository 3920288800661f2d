// SPDX-License-Identifier: Apache-2.0
// Barriers, critical sections, cancellation points, memory and messages.
#include "omp/gomp/gomp.h"

#include "base/message.h"
#include "omp/cancel.h"
#include "omp/sync.h"

#include <cstddef>
#include <cstdlib>

using namespace sennit;

extern "C" {
void *omp_aligned_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator);
void omp_free(void *pointer, std::uintptr_t allocator);
}

GOMP_API void GOMP_barrier(void) {
    omp::barrier(omp::here());
}

namespace {

// `which` is a bit: 1 parallel, 2 loop, 4 sections, 8 taskgroup.
omp::Construct construct_of(int which) {
    return which == 1   ? omp::Construct::parallel
           : which == 8 ? omp::Construct::taskgroup
                        : omp::Construct::worksharing;
}

} // namespace

GOMP_API bool GOMP_barrier_cancel(void) {
    return omp::barrier(omp::here());
}
GOMP_API bool GOMP_cancellation_point(int which) {
    return omp::cancellation_point(omp::here(), construct_of(which));
}
GOMP_API bool GOMP_cancel(int which, bool condition) {
    return condition ? omp::cancel(omp::here(), construct_of(which))
                     : GOMP_cancellation_point(which);
}

GOMP_API void GOMP_critical_start(void) {
    omp::default_critical().lock();
}
GOMP_API void GOMP_critical_end(void) {
    omp::default_critical().unlock();
}
GOMP_API void GOMP_critical_name_start(void **word) {
    omp::named_critical(word).lock();
}
GOMP_API void GOMP_critical_name_end(void **word) {
    omp::named_critical(word).unlock();
}
GOMP_API void GOMP_atomic_start(void) {
    omp::atomic_mutex().lock();
}
GOMP_API void GOMP_atomic_end(void) {
    omp::atomic_mutex().unlock();
}

GOMP_API void *GOMP_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
GOMP_API void GOMP_free(void *pointer, std::uintptr_t allocator) {
    omp_free(pointer, allocator);
}

// `#pragma omp error at(execution)`; the text is not terminated.
GOMP_API void GOMP_warning(const char *text, std::size_t length) {
    if (text)
        warn("error directive: %.*s", static_cast<int>(length), text);
    else
        warn("error directive encountered");
}
GOMP_API void GOMP_error(const char *text, std::size_t length) {
    GOMP_warning(text, length);
    std::exit(1);
}

// Offload images announce themselves from constructors. There are no devices to load them on.
GOMP_API void GOMP_offload_register_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_register(const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister(const void *, int, const void *) {}
