// SPDX-License-Identifier: Apache-2.0
// Variables that do not change while their reader waits for tasks: what a taskwait waits for may be
// a task that writes what is read behind it. A read of a steady variable may as well come before.
//
// A variable is steady for a function if all uses of its address are known, and if what writes it
// runs only where the function's thread runs nothing else:
//
//     a local variable     in the function that has it. Parallel regions and tasks that share it
//                          only read it, for their creator stands still or goes on meanwhile
//     a parallel region's  the variable of the function around it, as above
//     a `static` one       in `main`, and in functions of the file that only `main` calls; so must
//                          be the reader, but parallel regions may be in between. Then whatever
//                          writes it is not running when the reader is
//
// Other global variables may be written by other files: of them nothing is known.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"

namespace sennit::pass {

class Steady {
  public:
    // `object`: what a pointer of the function is based on.
    bool is_steady(const llvm::Value &object, const llvm::Function &reader);

  private:
    bool is_found_steady(const llvm::Value &object, const llvm::Function &reader);

    llvm::DenseMap<std::pair<const llvm::Value *, const llvm::Function *>, bool> known_;
};

} // namespace sennit::pass
