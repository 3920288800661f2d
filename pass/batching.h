// SPDX-License-Identifier: Apache-2.0
// Sends and receives that follow each other, and loops of the one or of the other, are started
// together and waited for once (mpi detach paper, section 5.3: "merging completion calls"), as late
// as may be (window.h). In any function, a task or not. library/batch.h does it when the program
// runs.
//
// Until the wait nothing happens but the next of them, in their order, and what can be seen by
// nobody else. A send or receive that meets the buffer of another, where one of the two is written,
// waits for all before; so does a read or write of memory that may be in a buffer. Extents are
// known when the program runs: they are compared then.
//
//   - A send, or a receive, may begin before a send is over. When a standard send returns, nothing
//     is known of its receiver.
//   - No send begins before a receive is over: it would tell others that the message has come. Hand
//     made barriers are such.
//   - A receive may begin before another is over, unless somebody could notice: whether there is
//     one is known when the program runs (library/watched.cpp).
#pragma once

#include "remarks.h"
#include "window.h"

#include "llvm/IR/Function.h"

namespace sennit::pass {

// Has the function changed? `says_missed`: of calls that are left alone, too.
bool batch_calls(llvm::Function &function, const Windows::Analyses &analyses, Remarks &remarks,
                 bool says_missed);

} // namespace sennit::pass
