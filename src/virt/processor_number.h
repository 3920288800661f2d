// SPDX-License-Identifier: Apache-2.0
// The kernel writes the number of the processor into a thread's own memory (rseq): that of the home
// thread, which is not where the fiber runs. For the rank's own code.
#pragma once

#include "base/system_call.h"

#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>

// Of glibc 2.35 and later. Not looked up by name: a library's constructor may wait for the caller
// while it holds the loader's lock.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
// NOLINTEND(bugprone-reserved-identifier)
}

namespace sennit::virt {

// Of the calling thread, at home. Without it, libc asks the processor.
inline void leave_processor_number() {
    const std::ptrdiff_t *const offset = &__rseq_offset;
    const unsigned int *const size = &__rseq_size;
    if (!offset || !size || *size == 0)
        return;
    struct Area { // struct rseq
        std::uint32_t start, processor;
    };
    auto *const area =
        reinterpret_cast<Area *>(static_cast<char *>(__builtin_thread_pointer()) + *offset);
    constexpr long unregister = 1;
    constexpr long signature = 0x53053053;
    constexpr long registered = 32; // by glibc, whatever of it has a meaning
    if (system_call(SYS_rseq, reinterpret_cast<long>(area), registered, unregister, signature, 0,
                    0) == 0)
        __atomic_store_n(&area->processor, std::uint32_t(-2), __ATOMIC_RELAXED);
}

} // namespace sennit::virt
