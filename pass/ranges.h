// SPDX-License-Identifier: Apache-2.0
// What a whole loop touches, known before it begins: an access's address in its first round, and
// how far the rounds go on from there.
#pragma once

#include "operations.h"
#include "rewriting.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <cstdint>
#include <optional>

namespace sennit::pass {

struct Range {
    struct Step {
        const llvm::SCEV *stride, *rounds;
        bool operator==(const Step &) const = default;
    };
    struct Recurrence { // of a number, in the rounds of the loops around it
        const llvm::SCEV *first;
        llvm::SmallVector<Step, Rewriting::kMostLoops> loops;
        bool operator==(const Recurrence &) const = default;
    };
    struct Index { // on which the address depends, if its values stay within these
        Recurrence values;
        std::int64_t least, greatest;
        bool operator==(const Index &) const = default;
    };
    Touch touch;
    Recurrence address;
    const llvm::SCEV *bytes;
    llvm::SmallVector<Index, 4> indices;
};

class Ranges {
  public:
    explicit Ranges(llvm::ScalarEvolution &evolution, const llvm::DataLayout &layout)
        : evolution_(evolution), expander_(evolution, layout, "sennit.range") {}

    // Null: it cannot be told where `loop` begins. Bounds, not what is touched exactly.
    std::optional<Range> find(const Touch &touch, const llvm::Loop &loop) const;
    // All of the variable that it touches, wherever in it. Null: it may be another's memory.
    std::optional<Range> find_variable(const Touch &touch, const llvm::Loop &loop) const;
    // Does `loop` surely touch the beginning of the buffer?
    bool meets(const Range &range, llvm::Value *buffer, const llvm::Loop &loop);
    // One that has both, of accesses that differ by a constant: else null.
    std::optional<Range> joined(const Range &one, const Range &other);
    void ask(Rewriting &rewriting, llvm::Instruction &before, const Range &range);
    // The same, of a receive that is started there.
    bool can_ask(const Range &range, const llvm::Instruction &before) const;
    void ask(Rewriting::Early &early, const Range &range);

    // Must the loop end, or do something that others see?
    bool ends(const llvm::Loop &loop);

  private:
    bool usable(const llvm::SCEV *value, const llvm::Loop &loop) const;
    // What these rely on is added to `indices`. Null: it cannot be told.
    using Indices = llvm::SmallVectorImpl<Range::Index>;
    const llvm::SCEV *widened(const llvm::SCEV *value, const llvm::Loop &loop,
                              Indices &indices) const;
    std::optional<Range::Recurrence> recurrence(const llvm::SCEV *value, const llvm::Loop &loop,
                                                Indices &indices) const;
    const llvm::SCEV *most_rounds(const llvm::Loop &inner, const llvm::Loop &loop,
                                  Indices &indices) const;
    const llvm::SCEV *most_of_triangle(const llvm::SCEV *rounds, const llvm::Loop &inner,
                                       const llvm::Loop &loop, Indices &indices) const;
    struct Expanded {
        llvm::Value *memory, *bytes;
        llvm::SmallVector<Rounds, Rewriting::kMostLoops> loops;
        llvm::SmallVector<llvm::Value *, 4> certain;
    };
    Expanded expanded(Rewriting &rewriting, llvm::Instruction &before, const Range &range);

    llvm::ScalarEvolution &evolution_;
    llvm::SCEVExpander expander_;
};

} // namespace sennit::pass
