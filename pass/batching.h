// SPDX-License-Identifier: Apache-2.0
// Sends that follow each other, and loops of sends, are started together and waited for once (mpi
// detach paper, section 5.3: "merging completion calls"). In any function, a task or not.
//
// Until the wait nothing happens but the next sends, and what touches no buffer of theirs and can
// be seen by nobody. The order of sends is kept. When a standard send returns, nothing is known of
// its receiver; so that the next begins earlier can be seen by nobody, either. A loop has at most
// kMostUnderWay operations under way, then it waits for them.
//
// Receives are not batched: the arrival of one may be what allows the next (see tail_binding.h).
#pragma once

#include "remarks.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace sennit::pass {

inline constexpr unsigned kMostUnderWay = 32;

// Has the function changed?
bool batch_sends(llvm::Function &function, llvm::AAResults &aliases, const llvm::LoopInfo &loops,
                 Remarks &remarks);

} // namespace sennit::pass
