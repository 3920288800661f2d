// SPDX-License-Identifier: Apache-2.0
// Functions of the same file that only compute: they end, throw nothing, and read and write memory,
// but nothing that others could notice while they run.
#pragma once

#include "aliases.h"

#include "llvm/IR/InstrTypes.h"

namespace sennit::pass {

// What it reads and writes is for alias analysis to say.
bool is_quiet(const llvm::CallBase &call, Aliases &aliases);

} // namespace sennit::pass
