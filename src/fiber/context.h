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

namespace sennit::fiber {

struct Context {
    boost::context::detail::fcontext_t pointer = nullptr; // valid while switched out
    const void *stack_low = nullptr;                      // lowest usable address, for sanitizers
    std::size_t stack_size = 0;
    void *sanitizer_stack = nullptr; // ASan: fake stack while switched out
    void *sanitizer_fiber = nullptr; // TSan: its handle
    unsigned valgrind_stack = 0;     // valgrind: its number
};

using Entry = void (*)(Context &self);

// Prepare `context` so that the first switch to it calls entry(context) on the stack [low, low +
// size). `entry` must not return.
void make(Context &context, void *low, std::size_t size, Entry entry);

// Describe the kernel thread's own stack, on which the caller runs. `size`: that of the stack, if
// the caller has made the thread; else 0. To ask the C library takes some system calls of a new
// thread: it allocates memory.
void adopt_thread(Context &context, std::size_t size);

// Undo make() or adopt_thread() for a context that will never run again.
void forget(Context &context);

// Leave `from`, the running context, and go on in `to`. Returns when somebody switches to `from`.
void switch_to(Context &from, Context &to);

} // namespace sennit::fiber
