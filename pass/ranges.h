// SPDX-License-Identifier: Apache-2.0
// What a whole loop touches, known before it begins: an access's address in its first round, and
// how far the rounds go on from there.
#pragma once

#include "operations.h"
#include "rewriting.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <optional>

namespace sennit::pass {

struct Range {
    Touch touch;
    const llvm::SCEV *first; // its address
    const llvm::SCEV *bytes;
    struct Step {
        const llvm::SCEV *stride, *rounds;
        bool operator==(const Step &) const = default;
    };
    llvm::SmallVector<Step, Rewriting::kMostLoops> loops;
};

class Ranges {
  public:
    explicit Ranges(llvm::ScalarEvolution &evolution, const llvm::DataLayout &layout)
        : evolution_(evolution), expander_(evolution, layout, "sennit.range") {}

    // Null: it cannot be told where `loop` begins. Bounds, not what is touched exactly.
    std::optional<Range> find(const Touch &touch, const llvm::Loop &loop);
    // Does `loop` surely touch the beginning of the buffer?
    bool meets(const Range &range, llvm::Value *buffer, const llvm::Loop &loop);
    // One that has both, of accesses that differ by a constant: else null.
    std::optional<Range> joined(const Range &one, const Range &other);
    void ask(Rewriting &rewriting, llvm::Instruction &before, const Range &range);

    // Must the loop end, or do something that others see?
    bool ends(const llvm::Loop &loop);

  private:
    llvm::ScalarEvolution &evolution_;
    llvm::SCEVExpander expander_;
};

} // namespace sennit::pass
