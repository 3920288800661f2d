// SPDX-License-Identifier: Apache-2.0
// The floating-point control of a kernel thread: rounding, flush to zero, traps; differs() and
// write() leave out the flags of exceptions that were raised. A parked fiber keeps its own
// (context.h).
//
// Invariant: a task that starts where another one rests does not start in that one's control.
#pragma once

#include "base/compiler.h"

#include <cstdint>

namespace sennit::fiber {

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
