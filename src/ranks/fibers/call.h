// SPDX-License-Identifier: Apache-2.0
// Switches from one flow of control to another, and the only system calls that a carrier can make.
// Both are in assembler, because the kernel lets through exactly the addresses of these few
// instructions (trap.h).
#pragma once

#include <cstdint>

extern "C" {

// Saves the caller's registers on its stack, and writes into *from where they are. Then it goes on
// at `to`, where another call of these functions has saved its registers, with this thread pointer.
// It keeps what compilers expect a function to keep, and the control of floating point.
void sennit_virt_switch(void **from, void *to, std::uintptr_t thread_pointer);
// The same, but the thread pointer stays the caller's. (Writing it takes longer than all the rest.)
void sennit_virt_step_back(void **from, void *to);
// As sennit_virt_switch, but goes on where a signal has interrupted a flow of control. `frame` is
// the frame of that signal.
void sennit_virt_resume(void **from, void *frame, std::uintptr_t thread_pointer);
// The same, for a caller to which nobody comes back.
[[noreturn]] void sennit_virt_leave(void *to, std::uintptr_t thread_pointer);
[[noreturn]] void sennit_virt_return(void *frame);

// Saves the registers, and calls parked(argument) on the stack that ends at `stack`. Then it goes
// on where the result of the call says.
void sennit_virt_park(void **from, char *stack, void *(*parked)(void *), void *argument);

// Makes a system call. Returns what the kernel returns, and sets no errno.
long sennit_virt_call(long number, long a, long b, long c, long d, long e, long f);
// The return of a signal handler.
void sennit_virt_restorer();

extern const char sennit_virt_calls_begin[];
extern const char sennit_virt_calls_end[];
}

namespace sennit::virt {

template <typename... Arguments>
long call(long number, Arguments... arguments) {
    const long values[6] = {(long)(arguments)...}; // NOLINT: numbers and addresses
    return sennit_virt_call(number, values[0], values[1], values[2], values[3], values[4],
                            values[5]);
}

} // namespace sennit::virt
