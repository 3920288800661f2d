// SPDX-License-Identifier: Apache-2.0
// Memory management routines (OpenMP 5.2, 18.13), for C and Fortran.
#include "omp/api/api.h"
#include "omp/api/routines.h"
#include "omp/memory/allocators.h"

#include "omp/team/icv_update.h"
#include "omp/team/team.h"

#include <cstring>

using namespace sennit;
using omp::AllocatorHandle;
using omp::AllocatorTrait;

namespace {

// def-allocator-var
AllocatorHandle usual() {
    return omp::here().task->icvs->default_allocator;
}

void *zeroed(std::size_t alignment, std::size_t count, std::size_t size, AllocatorHandle handle) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, size, &all))
        return nullptr;
    void *block = omp::allocate(alignment, all, handle, usual());
    return block ? std::memset(block, 0, all) : nullptr;
}

} // namespace

// Handles as variables: enumerators in omp.h on Linux, but LLVM's runtime exports them everywhere.
#define SENNIT_HANDLE(name, value)                                                                 \
    extern "C" SENNIT_EXPORT const std::uintptr_t name;                                            \
    const std::uintptr_t name = value;
SENNIT_HANDLE(omp_null_allocator, omp::kNullAllocator)
SENNIT_HANDLE(omp_default_mem_alloc, omp::kDefaultAllocator)
SENNIT_HANDLE(omp_large_cap_mem_alloc, 2)
SENNIT_HANDLE(omp_const_mem_alloc, 3)
SENNIT_HANDLE(omp_high_bw_mem_alloc, 4)
SENNIT_HANDLE(omp_low_lat_mem_alloc, 5)
SENNIT_HANDLE(omp_cgroup_mem_alloc, 6)
SENNIT_HANDLE(omp_pteam_mem_alloc, 7)
SENNIT_HANDLE(omp_thread_mem_alloc, 8)
SENNIT_HANDLE(kmp_max_mem_alloc, 1024)
SENNIT_HANDLE(omp_default_mem_space, 0)
SENNIT_HANDLE(omp_large_cap_mem_space, 1)
SENNIT_HANDLE(omp_const_mem_space, 2)
SENNIT_HANDLE(omp_high_bw_mem_space, 3)
SENNIT_HANDLE(omp_low_lat_mem_space, 4)

SENNIT_API void *omp_alloc(std::size_t size, AllocatorHandle allocator) {
    return omp::allocate(1, size, allocator, usual());
}
SENNIT_API void *omp_aligned_alloc(std::size_t align, std::size_t size, AllocatorHandle allocator) {
    return omp::allocate(align, size, allocator, usual());
}
SENNIT_API void *omp_calloc(std::size_t count, std::size_t size, AllocatorHandle allocator) {
    return zeroed(1, count, size, allocator);
}
SENNIT_API void *omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size,
                                    AllocatorHandle allocator) {
    return zeroed(align, count, size, allocator);
}
// A block knows its allocator; the one that is named to free it is a help for others.
SENNIT_API void omp_free(void *block, AllocatorHandle) {
    omp::release(block);
}
SENNIT_API void *omp_realloc(void *block, std::size_t size, AllocatorHandle allocator,
                             AllocatorHandle) {
    return omp::reallocate(block, size, allocator, usual());
}

SENNIT_API AllocatorHandle omp_init_allocator(std::uintptr_t space, int count,
                                              const AllocatorTrait *traits) {
    return omp::make_allocator(space, count, traits);
}
SENNIT_API AllocatorHandle omp_init_allocator_(const std::uintptr_t *space, const int *count,
                                               const AllocatorTrait *traits) {
    return omp::make_allocator(*space, *count, traits);
}
SENNIT_API AllocatorHandle omp_init_allocator_8_(const std::uintptr_t *space,
                                                 const std::int64_t *count,
                                                 const AllocatorTrait *traits) {
    return omp::make_allocator(*space, static_cast<int>(*count), traits);
}
SENNIT_API void omp_destroy_allocator(AllocatorHandle allocator) {
    omp::drop_allocator(allocator);
}
SENNIT_API void omp_destroy_allocator_(const AllocatorHandle *allocator) {
    omp::drop_allocator(*allocator);
}

SENNIT_API void omp_set_default_allocator(AllocatorHandle allocator) {
    icvs_for_update(omp::here())->default_allocator =
        allocator != omp::kNullAllocator ? allocator : omp::kDefaultAllocator;
}
SENNIT_API void omp_set_default_allocator_(const AllocatorHandle *allocator) {
    omp_set_default_allocator(*allocator);
}
SENNIT_GET(AllocatorHandle, omp_get_default_allocator, usual())
