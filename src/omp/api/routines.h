// SPDX-License-Identifier: Apache-2.0
// omp_* routines that a front door has under a name of its own, too.
#pragma once

#include "omp/memory/allocators.h"

#include <cstddef>
#include <cstdint>

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
