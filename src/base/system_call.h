// SPDX-License-Identifier: Apache-2.0
// A system call without libc's function syscall(), which src/tasks/pthread interposes for programs.
#pragma once

#include <csignal>
#include <cstdint>
#include <type_traits>

namespace sennit {

namespace detail {
inline long trap_into_kernel(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register const long r10 asm("r10") = d;
    register const long r8 asm("r8") = e;
    register const long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0"
                 : "+r"(x0)
                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                 : "memory");
    return x0;
#endif
}

template <class T>
long word_of(T argument) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<long>(argument);
    else
        return static_cast<long>(argument);
}
} // namespace detail

// What the kernel returns: -errno where it fails. Arguments are numbers and pointers, six at most.
// No errno, no thread pointer: also for code that has no libc.
template <class... Arguments>
long system_call(long number, Arguments... arguments) {
    const long words[6] = {detail::word_of(arguments)...};
    return detail::trap_into_kernel(number, words[0], words[1], words[2], words[3], words[4],
                                    words[5]);
}

// What rt_sigaction(2) takes, for code that must not call libc's sigaction: libc's is longer, and
// has a restorer of its own.

struct KernelAction {
    static constexpr unsigned long kHasRestorer = 0x04000000; // SA_RESTORER

    std::uintptr_t handler = reinterpret_cast<std::uintptr_t>(SIG_DFL);
    unsigned long flags = 0;
    void (*restorer)() = nullptr;
    std::uint64_t mask = 0;
};

} // namespace sennit
