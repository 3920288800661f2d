// SPDX-License-Identifier: Apache-2.0
// LLVM's kmp_* routines for programs: its malloc family, settings, and sets of processors. Fortran
// calls them with a trailing underscore, by reference, or as kmpc_*, by value.
#include "openmp/kmp/kmp.h"

#include "base/message.h"
#include "openmp/env/affinity.h"
#include "openmp/env/icv.h"
#include "tasks/sched/processors.h"

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>

using namespace sennit;

namespace {

std::atomic<int> g_blocktime_ms{-1}; // not set by the program
std::atomic<int> g_library{2};       // throughput

template <class Pointer>
std::uintptr_t address(Pointer pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
void *pointer(std::uintptr_t address) {
    return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr)
}

} // namespace

// ---- memory -------------------------------------------------------------------------------------

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
KMP_API void *kmpc_malloc(std::size_t size) {
    return kmp_malloc(size);
}
KMP_API void *kmpc_aligned_malloc(std::size_t size, std::size_t alignment) {
    return kmp_aligned_malloc(size, alignment);
}
KMP_API void *kmpc_calloc(std::size_t count, std::size_t size) {
    return kmp_calloc(count, size);
}
KMP_API void *kmpc_realloc(void *block, std::size_t size) {
    return kmp_realloc(block, size);
}
KMP_API void kmpc_free(void *block) {
    kmp_free(block);
}
KMP_API std::uintptr_t kmp_malloc_(const std::size_t *size) {
    return address(kmp_malloc(*size));
}
KMP_API std::uintptr_t kmp_aligned_malloc_(const std::size_t *size, const std::size_t *alignment) {
    return address(kmp_aligned_malloc(*size, *alignment));
}
KMP_API std::uintptr_t kmp_calloc_(const std::size_t *count, const std::size_t *size) {
    return address(kmp_calloc(*count, *size));
}
KMP_API std::uintptr_t kmp_realloc_(const std::uintptr_t *block, const std::size_t *size) {
    return address(kmp_realloc(pointer(*block), *size));
}
KMP_API void kmp_free_(const std::uintptr_t *block) {
    kmp_free(pointer(*block));
}

// ---- settings -----------------------------------------------------------------------------------

// SENNIT_KMP_SET(what, T, C, value): kmp_set_<what>(value) with Fortran's two forms.
#define SENNIT_KMP_SET(what, T, function)                                                          \
    KMP_API void kmp_set_##what(T value) {                                                         \
        function(value);                                                                           \
    }                                                                                              \
    KMP_API void kmp_set_##what##_(const T *value) {                                               \
        function(*value);                                                                          \
    }                                                                                              \
    KMP_API void kmpc_set_##what(T value) {                                                        \
        function(value);                                                                           \
    }
#define SENNIT_KMP_GET(type, name, value)                                                          \
    KMP_API type name(void) {                                                                      \
        return value;                                                                              \
    }                                                                                              \
    KMP_API type name##_(void) {                                                                   \
        return value;                                                                              \
    }
#define SENNIT_KMP_DO(name, action)                                                                \
    KMP_API void name(void) {                                                                      \
        action;                                                                                    \
    }                                                                                              \
    KMP_API void name##_(void) {                                                                   \
        action;                                                                                    \
    }

namespace {

// How long an idle thread stays awake is SENNIT_SPIN_US's and OMP_WAIT_POLICY's business; a
// blocktime is remembered and says whether to wait actively.
void set_blocktime(int ms) {
    g_blocktime_ms.store(ms < 0 ? 0 : ms, std::memory_order_relaxed);
    sched::set_wait_policy(ms <= 0         ? sched::WaitPolicy::passive
                           : ms == INT_MAX ? sched::WaitPolicy::active
                                           : sched::WaitPolicy::unset);
}

int blocktime() {
    constexpr int kUsual = 200; // what LLVM's runtime says
    const int set = g_blocktime_ms.load(std::memory_order_relaxed);
    if (set >= 0)
        return set;
    switch (sched::wait_policy()) {
    case sched::WaitPolicy::active:
        return INT_MAX;
    case sched::WaitPolicy::passive:
        return 0;
    case sched::WaitPolicy::unset:
        break;
    }
    return kUsual;
}

// 1 serial, 2 turnaround, 3 throughput: hints.
void set_library(int kind) {
    if (kind >= 1 && kind <= 3)
        g_library.store(kind, std::memory_order_relaxed);
}

// Too late once there are threads, as with LLVM's runtime.
void set_stack_bytes(std::size_t bytes) {
    if (sched::Worker::all().count() <= 1)
        set_stack_size(bytes);
}

// "NAME=value|NAME=value"
void set_defaults(const char *list, std::size_t length) {
    char name[64];
    char value[512];
    const char *const end = list + length;
    while (list < end) {
        const char *bar =
            static_cast<const char *>(std::memchr(list, '|', static_cast<std::size_t>(end - list)));
        const char *stop = bar ? bar : end;
        const char *equals = static_cast<const char *>(
            std::memchr(list, '=', static_cast<std::size_t>(stop - list)));
        if (equals) {
            std::snprintf(name, sizeof name, "%.*s", static_cast<int>(equals - list), list);
            std::snprintf(value, sizeof value, "%.*s", static_cast<int>(stop - equals - 1),
                          equals + 1);
            if (!change_setting(name, value))
                warn("kmp_set_defaults: '%s' is unknown or cannot change any more: set it in the "
                     "environment",
                     name);
        }
        list = stop + 1;
    }
}

} // namespace

SENNIT_KMP_SET(blocktime, int, set_blocktime)
SENNIT_KMP_GET(int, kmp_get_blocktime, blocktime())
SENNIT_KMP_SET(library, int, set_library)
SENNIT_KMP_GET(int, kmp_get_library, g_library.load(std::memory_order_relaxed))
SENNIT_KMP_DO(kmp_set_library_serial, set_library(1))
SENNIT_KMP_DO(kmp_set_library_turnaround, set_library(2))
SENNIT_KMP_DO(kmp_set_library_throughput, set_library(3))
SENNIT_KMP_SET(stacksize, int, [](int bytes) {
    if (bytes > 0)
        set_stack_bytes(static_cast<std::size_t>(bytes));
})
SENNIT_KMP_SET(stacksize_s, std::size_t, set_stack_bytes)
SENNIT_KMP_GET(int, kmp_get_stacksize, static_cast<int>(global_icvs().stack_size))
SENNIT_KMP_GET(std::size_t, kmp_get_stacksize_s, global_icvs().stack_size)
// A hint: threads run ahead of each other by a number of loops that we have chosen.
SENNIT_KMP_SET(disp_num_buffers, int, [](int) {})
SENNIT_KMP_DO(kmp_set_warnings_on, set_warnings(true))
SENNIT_KMP_DO(kmp_set_warnings_off, set_warnings(false))
SENNIT_KMP_GET(int, kmp_get_num_known_threads, sched::Worker::all().count())

KMP_API void kmp_set_defaults(const char *list) {
    set_defaults(list, std::strlen(list));
}
KMP_API void kmpc_set_defaults(const char *list) {
    kmp_set_defaults(list);
}
// Fortran passes the length behind the text.
KMP_API void kmp_set_defaults_(const char *list, int length) {
    set_defaults(list, length > 0 ? static_cast<std::size_t>(length) : 0);
}

// ---- processors ---------------------------------------------------------------------------------

namespace {

using omp::CpuSet;

// kmp_affinity_mask_t: a handle of the program's.
CpuSet &set_of(void *const *mask) {
    if (!mask || !*mask)
        fatal("kmp_*affinity*: no set of processors: call kmp_create_affinity_mask first");
    return *static_cast<CpuSet *>(*mask);
}

void create_mask(void **mask) {
    void *memory = std::malloc(sizeof(CpuSet));
    if (!memory)
        fatal("no memory for a set of processors (%zu bytes)", sizeof(CpuSet));
    *mask = new (memory) CpuSet;
}
void destroy_mask(void **mask) {
    std::free(*mask);
    *mask = nullptr;
}

int set_affinity(void **mask) {
    const CpuSet &set = set_of(mask);
    return sched_setaffinity(0, CpuSet::kBytes, reinterpret_cast<const cpu_set_t *>(set.data()));
}
int get_affinity(void **mask) {
    set_of(mask) = omp::processors_of_caller();
    return 0;
}

// Values of LLVM's: no such processor; not one of this process's.
enum Refusal { kNoProcessor = -1, kNotOurs = -2 };

int max_processor() {
    int last = -1;
    const CpuSet &all = omp::processors_of_process();
    for (int cpu = -1; (cpu = all.next(cpu)) >= 0;)
        last = cpu;
    return last + 1;
}

int refusal(int processor) {
    if (processor < 0 || processor >= CpuSet::kMost)
        return kNoProcessor;
    return omp::processors_of_process().has(processor) ? 0 : kNotOurs;
}
int set_processor(int processor, void **mask) {
    const int refused = refusal(processor);
    if (refused == 0)
        set_of(mask).add(processor);
    return refused;
}
int unset_processor(int processor, void **mask) {
    const int refused = refusal(processor);
    if (refused == 0)
        set_of(mask).remove(processor);
    return refused;
}
int get_processor(int processor, void **mask) {
    const int refused = refusal(processor);
    if (refused == 0)
        return set_of(mask).has(processor);
    return refused == kNotOurs ? 0 : refused;
}

} // namespace

#define SENNIT_KMP_MASK(type, name, function)                                                      \
    KMP_API type name(void **mask) {                                                               \
        return function(mask);                                                                     \
    }                                                                                              \
    KMP_API type name##_(void **mask) {                                                            \
        return function(mask);                                                                     \
    }
SENNIT_KMP_MASK(void, kmp_create_affinity_mask, create_mask)
SENNIT_KMP_MASK(void, kmp_destroy_affinity_mask, destroy_mask)
SENNIT_KMP_MASK(int, kmp_set_affinity, set_affinity)
SENNIT_KMP_MASK(int, kmp_get_affinity, get_affinity)
SENNIT_KMP_GET(int, kmp_get_affinity_max_proc, max_processor())

#define SENNIT_KMP_PROCESSOR(what, function)                                                       \
    KMP_API int kmp_##what##_affinity_mask_proc(int processor, void **mask) {                      \
        return function(processor, mask);                                                          \
    }                                                                                              \
    KMP_API int kmp_##what##_affinity_mask_proc_(const int *processor, void **mask) {              \
        return function(*processor, mask);                                                         \
    }                                                                                              \
    KMP_API int kmpc_##what##_affinity_mask_proc(int processor, void **mask) {                     \
        return function(processor, mask);                                                          \
    }
SENNIT_KMP_PROCESSOR(set, set_processor)
SENNIT_KMP_PROCESSOR(unset, unset_processor)
SENNIT_KMP_PROCESSOR(get, get_processor)

// The calling thread may run wherever the process could when it started.
KMP_API int kmp_set_thread_affinity_mask_initial(void) {
    const CpuSet &all = omp::processors_of_process();
    return sched_setaffinity(0, CpuSet::kBytes, reinterpret_cast<const cpu_set_t *>(all.data()));
}
