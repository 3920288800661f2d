// SPDX-License-Identifier: Apache-2.0
// How the omp_* routines are exported.
#pragma once

#include "base/compiler.h"
#include "openmp/memory/allocators.h"

#include <climits>
#include <cstddef>
#include <cstdint>

#define SENNIT_API extern "C" SENNIT_EXPORT

// SENNIT_GET(type, name, value): type name(void) and its Fortran twin.
#define SENNIT_GET(type, name, value)                                                              \
    SENNIT_API type name(void) {                                                                   \
        return value;                                                                              \
    }                                                                                              \
    SENNIT_API type name##_(void) {                                                                \
        return value;                                                                              \
    }

// The int nearest to one of Fortran's 8-byte integers.
inline int sennit_narrow(std::int64_t value) {
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : static_cast<int>(value);
}

// SENNIT_SET(name, function): void name(int) with its Fortran twins.
#define SENNIT_SET(name, function)                                                                 \
    SENNIT_API void name(int value) {                                                              \
        function(value);                                                                           \
    }                                                                                              \
    SENNIT_API void name##_(const int *value) {                                                    \
        function(*value);                                                                          \
    }                                                                                              \
    SENNIT_API void name##_8_(const std::int64_t *value) {                                         \
        function(sennit_narrow(*value));                                                           \
    }

// SENNIT_ASK(name, function): int name(int) with its Fortran twins.
#define SENNIT_ASK(name, function)                                                                 \
    SENNIT_API int name(int value) {                                                               \
        return function(value);                                                                    \
    }                                                                                              \
    SENNIT_API int name##_(const int *value) {                                                     \
        return function(*value);                                                                   \
    }                                                                                              \
    SENNIT_API int name##_8_(const std::int64_t *value) {                                          \
        return function(sennit_narrow(*value));                                                    \
    }

// omp_* routines that a front door has under a name of its own, too.

extern "C" {
void *omp_alloc(std::size_t size, sennit::omp::AllocatorHandle allocator);
void *omp_aligned_alloc(std::size_t align, std::size_t size,
                        sennit::omp::AllocatorHandle allocator);
void *omp_calloc(std::size_t count, std::size_t size, sennit::omp::AllocatorHandle allocator);
void *omp_realloc(void *block, std::size_t size, sennit::omp::AllocatorHandle to,
                  sennit::omp::AllocatorHandle from);
void omp_free(void *block, sennit::omp::AllocatorHandle allocator);
sennit::omp::AllocatorHandle omp_init_allocator(std::uintptr_t space, int count,
                                                const sennit::omp::AllocatorTrait *traits);
void omp_destroy_allocator(sennit::omp::AllocatorHandle allocator);
void omp_set_default_allocator(sennit::omp::AllocatorHandle allocator);
sennit::omp::AllocatorHandle omp_get_default_allocator(void);

int omp_target_memcpy(void *into, const void *from, std::size_t length, std::size_t into_offset,
                      std::size_t from_offset, int into_device, int from_device);
int omp_target_memcpy_rect(void *into, const void *from, std::size_t element, int dimensions,
                           const std::size_t *volume, const std::size_t *into_offsets,
                           const std::size_t *from_offsets, const std::size_t *into_dimensions,
                           const std::size_t *from_dimensions, int into_device, int from_device);

int omp_pause_resource_all(int kind);
}
