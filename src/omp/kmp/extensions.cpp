// SPDX-License-Identifier: Apache-2.0
// LLVM's kmp_* routines for programs: its malloc family and the settings that are hints to us.
// Fortran calls them with a trailing underscore, by reference.
#include "omp/kmp/kmp.h"

#include "omp/icv.h"
#include "sched/threads.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace sennit;

namespace {

std::atomic<int> g_blocktime_ms{200}; // what LLVM's runtime says by default
std::atomic<int> g_library{2};        // throughput

} // namespace

KMP_API void *kmp_malloc(std::size_t size) {
    return std::malloc(size);
}
KMP_API void *kmp_aligned_malloc(std::size_t size, std::size_t alignment) {
    void *block = nullptr;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}
KMP_API void *kmp_calloc(std::size_t count, std::size_t size) {
    return std::calloc(count, size);
}
KMP_API void *kmp_realloc(void *block, std::size_t size) {
    return std::realloc(block, size);
}
KMP_API void kmp_free(void *block) {
    std::free(block);
}
KMP_API std::uintptr_t kmp_malloc_(const std::size_t *size) {
    return reinterpret_cast<std::uintptr_t>(kmp_malloc(*size));
}
KMP_API std::uintptr_t kmp_calloc_(const std::size_t *count, const std::size_t *size) {
    return reinterpret_cast<std::uintptr_t>(kmp_calloc(*count, *size));
}
KMP_API std::uintptr_t kmp_realloc_(const std::uintptr_t *block, const std::size_t *size) {
    return reinterpret_cast<std::uintptr_t>(
        kmp_realloc(reinterpret_cast<void *>(*block), *size)); // NOLINT(performance-no-int-to-ptr)
}
KMP_API void kmp_free_(const std::uintptr_t *block) {
    kmp_free(reinterpret_cast<void *>(*block)); // NOLINT(performance-no-int-to-ptr)
}

// How long an idle thread stays awake is SENNIT_SPIN_US's and OMP_WAIT_POLICY's business; a
// blocktime is remembered and says whether to wait actively.
KMP_API void kmp_set_blocktime(int ms) {
    g_blocktime_ms.store(ms, std::memory_order_relaxed);
    sched::set_wait_policy(ms == 0 ? sched::WaitPolicy::passive : sched::WaitPolicy::unset);
}
KMP_API void kmp_set_blocktime_(const int *ms) {
    kmp_set_blocktime(*ms);
}
KMP_API int kmp_get_blocktime(void) {
    return g_blocktime_ms.load(std::memory_order_relaxed);
}
KMP_API int kmp_get_blocktime_(void) {
    return kmp_get_blocktime();
}

KMP_API void kmp_set_library(int kind) {
    g_library.store(kind, std::memory_order_relaxed);
}
KMP_API void kmp_set_library_(const int *kind) {
    kmp_set_library(*kind);
}
KMP_API int kmp_get_library(void) {
    return g_library.load(std::memory_order_relaxed);
}
KMP_API int kmp_get_library_(void) {
    return kmp_get_library();
}

// Stacks have their size before a program can ask: set_stacksize is too late, as in LLVM's runtime
// after the first region.
KMP_API std::size_t kmp_get_stacksize_s(void) {
    return global_icvs().stack_size;
}
KMP_API std::size_t kmp_get_stacksize_s_(void) {
    return kmp_get_stacksize_s();
}
KMP_API int kmp_get_stacksize(void) {
    return static_cast<int>(kmp_get_stacksize_s());
}
KMP_API int kmp_get_stacksize_(void) {
    return kmp_get_stacksize();
}
