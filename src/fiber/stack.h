// SPDX-License-Identifier: Apache-2.0
// Stacks for fibers: mapped lazily (only touched pages cost memory), a guard page below each.
// Thread-safety: map_stack and unmap_stack from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::fiber {

struct Stack {
    void *low = nullptr; // first usable byte, just above the guard page
    std::size_t size = 0;
    explicit operator bool() const { return low != nullptr; }
};

// Size for new stacks, rounded to pages and raised to kMinimumStack.
inline constexpr std::size_t kMinimumStack = 32 * 1024;
void set_stack_size(std::size_t bytes);
std::size_t stack_size();

// A fresh stack, or a false one when the process's limits (RLIMIT_AS, vm.max_map_count) would then
// leave too little for everything else.
Stack map_stack();
void unmap_stack(Stack stack);

// Give the memory of a cached stack back to the system, all but its topmost pages.
void trim_stack(Stack stack);

// Stacks mapped now, in the whole process.
std::uint64_t live_stacks();

} // namespace sennit::fiber
