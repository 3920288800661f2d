// SPDX-License-Identifier: Apache-2.0
// Does an iteration of a static loop do the same whichever thread runs it, and whatever that thread
// has run before? So it is if it uses nothing that threads have for themselves:
//
//   - no thread-local data, no call that might ask for the thread's number or have such data;
//   - no private variable that has a value before the loop, unless that is the same in all threads
//     and the loop leaves it alone;
//   - none whose value is kept from one iteration to the next, or is looked at behind the loop,
//     unless it is one that OpenMP reduces: which iterations add to which copy is open.
//
// All threads have the same value of what follows from constants, from the parallel region's
// arguments, and from shared memory that is read before the threads may have done anything to each
// other: between the region's begin, or a barrier, and the next call or atomic operation, a program
// without data races reads the same in all of them.
#pragma once

#include "static_region.h"

#include "llvm/IR/Dominators.h"

#include <string>

namespace sennit::pass {

// Empty: so it is. Else what prevents it.
std::string thread_dependence(const StaticRegion &region, const llvm::DominatorTree &dominators,
                              const llvm::LoopInfo &loops);

// Is it, or is there in it, a thread-local variable?
bool is_of_a_thread(const llvm::Value *value);
// Only for the compiler, the debugger or a profile.
bool is_only_noted(const llvm::Instruction &instruction);

} // namespace sennit::pass
