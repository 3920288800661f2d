// SPDX-License-Identifier: Apache-2.0
// A machine context: where a flow of control left off, and the stack that it lives on. Switching is
// Boost.Context's fcontext (4-5 ns). Annotations around it tell AddressSanitizer and
// ThreadSanitizer of the switch, which they would take for a wild stack pointer.
//
// A context that is switched out keeps the floating-point control that its code had set.
//
// Invariant: only the kernel thread that a context is pinned to switches to it. So what compilers
// cache of thread-local addresses stays true.
#pragma once

#include "base/compiler.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>

namespace sennit::fiber {

struct Context {
    boost::context::detail::fcontext_t pointer = nullptr; // valid while switched out
    const void *stack_low = nullptr;                      // lowest usable address, for sanitizers
    std::size_t stack_size = 0;
    void *sanitizer_stack = nullptr; // ASan: fake stack while switched out
    void *sanitizer_fiber = nullptr; // TSan: its handle
    unsigned valgrind_stack = 0;     // valgrind: its number
};

using EntryFunction = void (*)(Context &self);

// Prepare `context` so that the first switch to it calls entry(context) on the stack [low, low +
// size). `entry` must not return.
void make(Context &context, void *low, std::size_t size, EntryFunction entry);

// Describe the kernel thread's own stack, on which the caller runs. `size`: that of the stack, if
// the caller has made the thread; else 0. To ask the C library takes some system calls of a new
// thread: it allocates memory.
void adopt_thread(Context &context, std::size_t size);

// Undo make() or adopt_thread() for a context that will never run again.
void forget(Context &context);

// Leave `from`, the running context, and go on in `to`. Returns when somebody switches to `from`.
void switch_to(Context &from, Context &to);

// The floating-point control of a kernel thread: rounding, flush to zero, traps; differs() and
// write() leave out the flags of exceptions that were raised. A parked fiber keeps its own
// (context.h).
//
// Invariant: a task that starts where another one rests does not start in that one's control.

#if defined(__x86_64__)

struct FpControl {
    std::uint32_t vector; // MXCSR
    std::uint16_t x87;    // control word

    void read() { asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(vector), "=m"(x87)); }
    bool differs() const {
        FpControl other;
        other.read();
        return SENNIT_UNLIKELY(((other.vector ^ vector) & ~kRaised) != 0 || other.x87 != x87);
    }
    SENNIT_COLD void write() const {
        FpControl before;
        before.read();
        const std::uint32_t word = (vector & ~kRaised) | (before.vector & kRaised);
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(word), "m"(x87));
    }

  private:
    static constexpr std::uint32_t kRaised = 0x3f; // exceptions
};

#elif defined(__aarch64__)

struct FpControl {
    std::uint64_t fpcr;

    void read() { asm volatile("mrs %0, fpcr" : "=r"(fpcr)); }
    bool differs() const {
        FpControl other;
        other.read();
        return SENNIT_UNLIKELY(other.fpcr != fpcr);
    }
    void write() const { asm volatile("msr fpcr, %0" : : "r"(fpcr)); }
};

#else
#error "where is this processor's floating-point control?"
#endif

inline FpControl fp_control() {
    FpControl control;
    control.read();
    return control;
}
// Writing takes many times as long as reading.
inline void set_fp_control(const FpControl &control) {
    if (control.differs())
        control.write();
}

} // namespace sennit::fiber
