// SPDX-License-Identifier: Apache-2.0
// Must code be able to run on stacks? GNU C's nested functions and Fortran's internal procedures,
// passed as arguments, are called through a few instructions in the frame of their host. Objects
// with such code say so (PT_GNU_STACK), or say nothing at all of their stacks. When the first of
// them is loaded, glibc makes the stacks of all threads executable, for good.
//
// Invariant: code may run on a task's stack wherever it may run on a thread's.
// Thread-safety: every function from any thread.
#pragma once

#include <cstddef>

namespace sennit::fiber {

// Look at what has been loaded since the last look. True when stacks have to be executable from now
// on and were not: then the caller makes all of them so.
bool need_executable();

// Has it been so? Asked after a stack was put where the caller of need_executable() finds it.
bool executable();

void make_executable(void *low, std::size_t size);

} // namespace sennit::fiber
