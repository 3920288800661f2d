// SPDX-License-Identifier: Apache-2.0
// From where a message is started to where it is waited for: its window (mpi-detach paper, section
// 5.2). The message is started where it stands. The wait sinks, on each path, to the first
// instruction that must not come before it: one that may touch the buffer (of a send: write it) or
// the status, or that others could notice: calls, atomic operations, fences, volatile accesses,
// exceptions; and the function's end.
//
// A loop without messages is crossed as a whole. What it touches is bounded before it begins; if
// that meets a buffer when the program runs, all that is under way is waited for first.
//
// All messages of a function share one batch (batching.h says which may be under way together), and
// an instruction that must not cross one waits for all. To wait again is free. So each path waits
// at least once for each, and what counts here is that it does.
#pragma once

#include "operations.h"
#include "ranges.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

#include <string>

namespace sennit::pass {

class Windows {
  public:
    struct Analyses {
        Aliases &aliases;
        const llvm::LoopInfo &loops;
        const llvm::DominatorTree &dominators;
        llvm::ScalarEvolution &evolution;
    };

    Windows(llvm::Function &function, const Operations &rules, const Analyses &analyses);

    // Where these are waited for, when they are started where they stand.
    void find(llvm::ArrayRef<Operation> operations);

    // What the last of these calls has found.
    bool is_worth_it(std::size_t operation) const { return worth_it_[operation]; }
    bool crosses(std::size_t operation) const { return crosses_[operation]; }
    bool compares() const { return compares_; }
    // "a read of x (line 7)"; and how many more there are.
    std::string frontier(std::size_t operation, std::size_t &others) const;
    // Of loops that may wait first: the first one's line, 0: there is none.
    unsigned asking_loop(std::size_t operation) const { return asking_loop_[operation]; }

    // All but the starts.
    void apply(Rewriting &rewriting);

  private:
    using Set = llvm::BitVector; // of operations that are under way

    bool flow();
    void pass(llvm::BasicBlock &block, Set &under_way);
    void step(llvm::Instruction &instruction, Set &under_way, unsigned &asked);
    void start(llvm::Instruction &instruction, std::size_t operation, Set &under_way);
    // `inside`: the object that a buffer is in.
    void touch_in_loop(const Touch &touch, bool inside, const llvm::Loop &loop,
                       const Set &under_way);
    bool wait_at(llvm::Instruction &place, const llvm::Instruction &reason);
    void note_crossing(const Set &under_way);
    llvm::SmallVector<Operation, 8> chosen(const Set &under_way) const;
    const llvm::Loop *whole_loop(const llvm::BasicBlock &block) const;
    bool may_not_end(const llvm::BasicBlock &block);

    llvm::Function &function_;
    const Operations &rules_;
    Analyses analyses_;
    Ranges ranges_;

    llvm::SmallVector<Operation, 8> operations_;
    llvm::DenseMap<const llvm::Instruction *, std::size_t> numbers_;
    llvm::SmallPtrSet<const llvm::Loop *, 8> loops_with_operations_;
    llvm::DenseMap<const llvm::BasicBlock *, Set> at_entry_;
    // Instructions before which all is waited for; and what is in the way there.
    struct Wait {
        const llvm::Instruction *reason;
        Set for_;
    };
    llvm::MapVector<llvm::Instruction *, Wait> waits_;
    bool new_wait_ = false;

    // Of the last round, in which there is no new wait.
    bool compares_ = false;
    Set worth_it_, crosses_;
    llvm::SmallVector<unsigned, 8> asking_loop_;
    llvm::SmallVector<Touch, 8> touches_;
    llvm::MapVector<const llvm::Loop *, llvm::SmallVector<Range, 4>> loop_touches_;
};

// "a read of x (line 7)", "the function's end".
std::string described_place(const llvm::Instruction &instruction);

} // namespace sennit::pass
