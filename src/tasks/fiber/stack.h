// SPDX-License-Identifier: Apache-2.0
// Stacks for fibers: mapped lazily (only touched pages cost memory), with a guard page below each.
//
// A guarded stack takes two mappings, and a process may have only so many (vm.max_map_count,
// 65530). So past some 16,000 of them stacks are packed side by side, each with a canary instead of
// a guard page. A task that overflows such a stack is found out when it next leaves it, before it
// can go on with what it has overwritten.
//
// Thread-safety: map_stack and unmap_stack from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::fiber {

struct Stack {
    void *low = nullptr; // first usable byte, just above the guard page
    std::size_t size = 0;
    bool packed = false; // no guard page, but a canary
    explicit operator bool() const { return low != nullptr; }
};

// Its canary are the words of its low end: they are zero until somebody comes so far, and a page
// that is only read takes no memory.
bool overflowed(const Stack &stack);

// Size for new stacks of fibers and of threads, rounded to pages and raised to kMinimumStack.
inline constexpr std::size_t kMinimumStack = 32 * 1024;
void set_stack_size(std::size_t bytes);
// The same of a size that nobody has asked for, such as `ulimit -s`. It may be huge. Threads try to
// have it. Fibers, which may be many, have less where it would use up the addresses that the
// process can have; and both have kUsualStack where the system refuses more.
inline constexpr std::size_t kUsualStack = 8 * 1024 * 1024;
void set_default_stack_size(std::size_t bytes);
std::size_t stack_size(); // of a fiber
std::size_t thread_stack_size();
// The next to try where a stack of this size was refused; 0: none.
std::size_t smaller_stack(std::size_t refused);

// What fibers have of a default of `bytes`, where the process may have `addresses` bytes (those of
// RLIMIT_AS, or UINT64_MAX) and shares its address space with others or not; pure.
std::size_t fiber_stack_size(std::size_t bytes, std::uint64_t addresses, bool promises_count,
                             bool shares);

// A fresh stack, or a false one when the process's limits (RLIMIT_AS, vm.max_map_count) would then
// leave too little for everything else.
Stack map_stack();
void unmap_stack(Stack stack);

// Does RLIMIT_AS bound the process's memory? Then a free stack is missing elsewhere.
bool addresses_limited();

// The stacks have to be executable (tasks/fiber/stack.h): those that are packed, free ones too.
void make_packed_executable();

// How many mappings the system allows the process (vm.max_map_count). Stacks with a guard page take
// half of them at most.
std::uint64_t most_mappings();

// Stacks mapped now, in the whole process.
std::uint64_t live_stacks();

// Around fork(), in the parent and in the child.
void stacks_before_fork();
void stacks_after_fork();

// Must code be able to run on stacks? GNU C's nested functions and Fortran's internal procedures,
// passed as arguments, are called through a few instructions in the frame of their host. Objects
// with such code say so (PT_GNU_STACK), or say nothing at all of their stacks. When the first of
// them is loaded, glibc makes the stacks of all threads executable, for good.
//
// Invariant: code may run on a task's stack wherever it may run on a thread's.
// Thread-safety: every function from any thread.

// Look at what has been loaded since the last look. True when stacks have to be executable from now
// on and were not: then the caller makes all of them so.
bool need_executable();

// Has it been so? Asked after a stack was put where the caller of need_executable() finds it.
bool executable();

void make_executable(void *low, std::size_t size);

} // namespace sennit::fiber
