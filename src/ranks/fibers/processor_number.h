// SPDX-License-Identifier: Apache-2.0
// The kernel writes the processor's number into a thread's own memory (rseq). For a rank fiber that
// is the number of the home thread, and the fiber may run elsewhere. So the home thread ends this.
// For the rank's own code.
#pragma once

#include "base/system_call.h"

#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>

// Variables of glibc 2.35 and later. They are not looked up by name: that takes the loader's lock,
// and a library's constructor that holds this lock may wait for the caller.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
// NOLINTEND(bugprone-reserved-identifier)
}
// By name alone: with glibc's version of them, an older glibc would refuse the library.
__asm__(".symver __rseq_offset, __rseq_offset@");
__asm__(".symver __rseq_size, __rseq_size@");

namespace sennit::virt {

// Called by a thread at home. From then on, libc asks the processor for its number.
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
