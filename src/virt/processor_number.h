// SPDX-License-Identifier: Apache-2.0
// The kernel writes the number of the processor into a thread's own memory (rseq): that of the home
// thread, which is not where the fiber runs. For the rank's own code.
#pragma once

#include "base/system_call.h"

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <sys/syscall.h>

namespace sennit::virt {

// Of the calling thread, at home. Without it, libc asks the processor.
inline void leave_processor_number() {
    const auto *const offset =
        static_cast<const std::ptrdiff_t *>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
    const auto *const size = static_cast<const unsigned *>(dlsym(RTLD_DEFAULT, "__rseq_size"));
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
