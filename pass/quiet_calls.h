// SPDX-License-Identifier: Apache-2.0
// Calls that only compute: they end, throw nothing, and read and write memory, but nothing that
// others could notice while they run.
#pragma once

#include "aliases.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace sennit::pass {

// Of a function of the same file, or of one that is declared to only read memory or to manage it
// (strlen, a function that is `pure`, malloc, free). What it reads and writes is for alias analysis
// to say.
bool is_quiet(const llvm::CallBase &call, Aliases &aliases);

// Of a library that the pass knows by name: BLAS, and what only asks MPI or OpenMP. It touches
// nothing but what these pointers lead to, wherever in it. Null: it is something else.
std::optional<llvm::SmallVector<const llvm::Value *, 8>>
touched_by_library(const llvm::CallBase &call);

// Does it take long enough for a message to come meanwhile?
bool is_long_computation(const llvm::CallBase &call, Aliases &aliases);

} // namespace sennit::pass
