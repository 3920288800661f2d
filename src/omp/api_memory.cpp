// SPDX-License-Identifier: Apache-2.0
// Memory and device routines (OpenMP 5.2, 18.8, 18.13). There are no devices: the host is device 0
// and initial, and device memory is host memory.
#include "omp/api.h"

#include "omp/icv.h"
#include "omp/team.h"

#include <cstdlib>
#include <cstring>

using namespace sennit;

namespace {

// omp_alloctrait_t keys and values that matter on the host.
enum Key { kAlignment = 2, kPoolSize = 4, kFallback = 5, kFallbackData = 6 };
enum Fallback { kDefaultMemory = 11, kNull = 12, kAbort = 13, kAllocator = 14 };

struct Trait {
    int key;
    std::uintptr_t value;
};

// A user's allocator. Predefined ones are the small numbers 1..8, 0 is the default.
struct Allocator {
    std::size_t alignment = 1;
    std::size_t pool = ~std::size_t{0};
    std::uintptr_t fallback = kDefaultMemory;
    std::uintptr_t fallback_data = 0;
    std::atomic<std::size_t> used{0};
};

constexpr std::uintptr_t kPredefined = 16;
std::atomic<std::uintptr_t> g_default{1};

Allocator *user_allocator(std::uintptr_t handle) {
    if (handle == 0)
        handle = g_default.load(std::memory_order_relaxed);
    return handle < kPredefined ? nullptr : reinterpret_cast<Allocator *>(handle);
}

// In front of every block: what free and realloc need.
struct alignas(16) Head {
    void *raw;
    std::size_t size;
    std::size_t charged; // to the pool: with what stands around the block
    Allocator *allocator;
};

void *allocate(std::size_t alignment, std::size_t size, std::uintptr_t handle) {
    if (size == 0)
        return nullptr;
    Allocator *allocator = user_allocator(handle);
    std::size_t align = alignment > alignof(Head) ? alignment : alignof(Head);
    if (allocator && allocator->alignment > align)
        align = allocator->alignment;
    const std::size_t whole = size + align + sizeof(Head);
    if (whole < size)
        return nullptr;
    if (allocator && allocator->used.fetch_add(whole) + whole > allocator->pool) {
        allocator->used.fetch_sub(whole);
        switch (allocator->fallback) {
        case kNull:
            return nullptr;
        case kAbort:
            std::abort();
        case kAllocator:
            return allocate(alignment, size, allocator->fallback_data);
        default:
            allocator = nullptr;
            break;
        }
    }
    char *raw = static_cast<char *>(std::malloc(whole));
    if (!raw)
        return nullptr;
    const auto base = reinterpret_cast<std::uintptr_t>(raw) + sizeof(Head);
    auto *block = reinterpret_cast<char *>((base + align - 1) & ~(align - 1));
    *(reinterpret_cast<Head *>(block) - 1) = {raw, size, whole, allocator};
    return block;
}

Head &head_of(void *block) {
    return *(static_cast<Head *>(block) - 1);
}

void release(void *block) {
    if (!block)
        return;
    const Head &head = head_of(block);
    if (head.allocator)
        head.allocator->used.fetch_sub(head.charged);
    std::free(head.raw);
}

void *zeroed(void *block, std::size_t size) {
    if (block)
        std::memset(block, 0, size);
    return block;
}

bool product(std::size_t a, std::size_t b, std::size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}

} // namespace

SENNIT_API void *omp_alloc(std::size_t size, std::uintptr_t allocator) {
    return allocate(1, size, allocator);
}
SENNIT_API void *omp_aligned_alloc(std::size_t align, std::size_t size, std::uintptr_t allocator) {
    return allocate(align, size, allocator);
}
SENNIT_API void *omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator) {
    std::size_t all = 0;
    return product(count, size, &all) ? zeroed(allocate(1, all, allocator), all) : nullptr;
}
SENNIT_API void *omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size,
                                    std::uintptr_t allocator) {
    std::size_t all = 0;
    return product(count, size, &all) ? zeroed(allocate(align, all, allocator), all) : nullptr;
}
SENNIT_API void omp_free(void *block, std::uintptr_t) {
    release(block);
}
SENNIT_API void *omp_realloc(void *block, std::size_t size, std::uintptr_t allocator,
                             std::uintptr_t) {
    if (!block)
        return allocate(1, size, allocator);
    void *fresh = size ? allocate(1, size, allocator) : nullptr;
    if (fresh)
        std::memcpy(fresh, block, head_of(block).size < size ? head_of(block).size : size);
    if (fresh || size == 0)
        release(block);
    return fresh;
}

SENNIT_API std::uintptr_t omp_init_allocator(std::uintptr_t, int count, const Trait *traits) {
    void *memory = std::malloc(sizeof(Allocator));
    if (!memory)
        return 0;
    auto *made = new (memory) Allocator;
    for (int i = 0; i < count; ++i) {
        const std::uintptr_t value = traits[i].value;
        switch (traits[i].key) {
        case kAlignment:
            made->alignment = value;
            break;
        case kPoolSize:
            made->pool = value;
            break;
        case kFallback:
            made->fallback = value;
            break;
        case kFallbackData:
            made->fallback_data = value;
            break;
        default:
            break; // sync_hint, access, pinned, partition: nothing to do on the host
        }
    }
    return reinterpret_cast<std::uintptr_t>(made);
}
SENNIT_API std::uintptr_t omp_init_allocator_(const std::uintptr_t *space, const int *count,
                                              const Trait *traits) {
    return omp_init_allocator(*space, *count, traits);
}
SENNIT_API void omp_destroy_allocator(std::uintptr_t allocator) {
    if (allocator >= kPredefined)
        std::free(reinterpret_cast<void *>(allocator));
}
SENNIT_API void omp_destroy_allocator_(const std::uintptr_t *allocator) {
    omp_destroy_allocator(*allocator);
}
SENNIT_API void omp_set_default_allocator(std::uintptr_t allocator) {
    g_default.store(allocator ? allocator : 1, std::memory_order_relaxed);
}
SENNIT_API void omp_set_default_allocator_(const std::uintptr_t *allocator) {
    omp_set_default_allocator(*allocator);
}
SENNIT_API std::uintptr_t omp_get_default_allocator(void) {
    return g_default.load(std::memory_order_relaxed);
}
SENNIT_API std::uintptr_t omp_get_default_allocator_(void) {
    return omp_get_default_allocator();
}

// ---- devices --------------------------------------------------------------------------------

#define SENNIT_DEVICE(type, name, value)                                                           \
    SENNIT_API type name(void) {                                                                   \
        return value;                                                                              \
    }                                                                                              \
    SENNIT_API type name##_(void) {                                                                \
        return value;                                                                              \
    }
SENNIT_DEVICE(int, omp_get_num_devices, 0)
SENNIT_DEVICE(int, omp_get_initial_device, 0)
SENNIT_DEVICE(int, omp_is_initial_device, 1)
SENNIT_DEVICE(int, omp_get_device_num, 0)
SENNIT_DEVICE(int, omp_get_default_device, omp::here().task->icvs->default_device)

SENNIT_API void *omp_target_alloc(std::size_t size, int) {
    return std::malloc(size);
}
SENNIT_API void omp_target_free(void *pointer, int) {
    std::free(pointer);
}
SENNIT_API int omp_target_is_present(const void *, int) {
    return 1;
}
SENNIT_API int omp_target_memcpy(void *into, const void *from, std::size_t length,
                                 std::size_t into_offset, std::size_t from_offset, int, int) {
    if (length)
        std::memcpy(static_cast<char *>(into) + into_offset,
                    static_cast<const char *>(from) + from_offset, length);
    return 0;
}
