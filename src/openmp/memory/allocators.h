// SPDX-License-Identifier: Apache-2.0
// Allocators (OpenMP 5.2, 6.2): memory with an alignment and, where the program asks, from a pool
// of limited size. A handle below kPredefinedAllocators is one of the standard's. Any other is the
// address of an Allocator.
//
// A block is counted in its allocator's pool, together with what stands around it. It is counted
// before it exists, and until it is released.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::omp {

using AllocatorHandle = std::uintptr_t;
inline constexpr AllocatorHandle kNullAllocator = 0;
inline constexpr AllocatorHandle kDefaultAllocator = 1;        // omp_default_mem_alloc
inline constexpr AllocatorHandle kPredefinedAllocators = 4096; // LLVM has some of its own

// omp_alloctrait_t
struct AllocatorTrait {
    int key;
    std::uintptr_t value;
};

// kNullAllocator when a trait or the memory space is not to be had.
AllocatorHandle make_allocator(std::uintptr_t space, int count, const AllocatorTrait *traits);
void drop_allocator(AllocatorHandle handle);

// `usual`, the encountering task's default one, stands for a null handle. Null when there is no
// memory.
void *allocate(std::size_t alignment, std::size_t size, AllocatorHandle handle,
               AllocatorHandle usual);
void release(void *block);
// Null, and the block as it was, when there is no memory. `handle` null: the block's own.
void *reallocate(void *block, std::size_t size, AllocatorHandle handle, AllocatorHandle usual);

// What OMP_ALLOCATOR says (OpenMP 5.2, 21.5.1): an allocator, or a memory space with traits.
// kNullAllocator when it is neither.
AllocatorHandle parse_allocator(const char *text);

} // namespace sennit::omp
