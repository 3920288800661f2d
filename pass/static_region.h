// SPDX-License-Identifier: Apache-2.0
// A static loop in the code of clang and flang: what is between __kmpc_for_static_init and
// __kmpc_for_static_fini.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <string>

namespace sennit::pass {

// Of __kmpc_for_static_init_4 and the like: which arguments are what.
struct StaticInit {
    static constexpr unsigned kLocation = 0, kThread = 1, kSchedule = 2, kLast = 3, kLower = 4,
                              kUpper = 5, kStride = 6, kStep = 7, kArguments = 9;
};

struct StaticRegion {
    llvm::CallInst *init = nullptr, *fini = nullptr;
    // Whole ones; besides, the end of the first one's and the beginning of the last one's.
    llvm::SmallPtrSet<const llvm::BasicBlock *, 16> blocks;
    const llvm::Loop *loop = nullptr; // over the iterations
    // The function that the compiler has made of a parallel region: all threads are given the same
    // arguments but for the first two.
    bool outlined = false;

    const llvm::Value *argument(unsigned number) const { return init->getArgOperand(number); }
    // lower, upper, stride or last?
    bool is_bound(const llvm::Value *variable) const;
    bool contains(const llvm::Instruction &instruction) const;
    // In the order of the function.
    template <class Visit> // bool(Instruction &): does it go on?
    bool each_instruction(Visit visit) const {
        for (llvm::BasicBlock &block : *init->getFunction())
            for (llvm::Instruction &instruction : block)
                if (contains(instruction) && !visit(instruction))
                    return false;
        return true;
    }
};

// "4", "4u", "8", "8u"; empty: the call is no __kmpc_for_static_init of a loop without chunks.
std::string static_loop_suffix(const llvm::CallInst &call);
// Empty: `region` is complete, and has one way in, one way out and one loop. Else what prevents it.
std::string find_region(llvm::CallInst &init, const llvm::LoopInfo &loops, StaticRegion &region);
// Empty: since the threads began, or last waited for each other, none has run a share of another
// static loop. One of as many iterations has the same shares (OpenMP 5.2, section 11.5.3), and its
// thread may still be at work on what this one needs. Else why not.
std::string obstacle_before(const StaticRegion &region);
// Empty: behind it the threads wait for each other, and do nothing before. Else why not.
std::string obstacle_behind(const StaticRegion &region);

// Is it OpenMP's entry point, declared here, whose name begins so?
bool calls_openmp(const llvm::Instruction &instruction, llvm::StringRef name);

// Does it read the thread's number, or where that is, for calls of the runtime only?
bool reads_thread_number(const llvm::Instruction &instruction);

} // namespace sennit::pass
