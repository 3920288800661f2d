// SPDX-License-Identifier: Apache-2.0
// Lets static loops go: between __kmpc_for_static_init and __kmpc_for_static_fini a thread has one
// share of the iterations, computed from its number. Afterwards it asks for pieces until there are
// none left (library/loops.h), and the runtime says which. Where nobody has asked for that, and
// under other runtimes, the piece is the static share.
//
// That is done where nobody could tell (thread_independence.h), and where all threads wait for each
// other behind the loop. It is done before all else: then what the program's variables hold is in
// memory, so that a loop that is run again goes on with what it had.
#pragma once

#include "remarks.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

namespace sennit::pass {

bool has_static_loops(const llvm::Function &function);
bool lend_static_loops(llvm::Function &function, const llvm::DominatorTree &dominators,
                       const llvm::LoopInfo &loops, Remarks &remarks);

} // namespace sennit::pass
