// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"

namespace sennit::pass {

using namespace llvm;

bool Ranges::ends(const Loop &loop) {
    return isMustProgress(&loop) ||
           !isa<SCEVCouldNotCompute>(evolution_.getSymbolicMaxBackedgeTakenCount(&loop));
}

namespace {

// An index of 32 bits that is extended to an address's 64 in each round is what it would be if it
// had 64 bits all the time, unless it wraps around. That is asked when the program runs.
class Widening : public SCEVRewriteVisitor<Widening> {
  public:
    Widening(ScalarEvolution &evolution, const Loop &loop)
        : SCEVRewriteVisitor(evolution), loop_(loop) {}

    const SCEV *visitSignExtendExpr(const SCEVSignExtendExpr *index) {
        return widened(*index, [&](const SCEV *value) {
            return SE.getSignExtendExpr(value, index->getType());
        });
    }
    const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *index) {
        return widened(*index, [&](const SCEV *value) {
            return SE.getZeroExtendExpr(value, index->getType());
        });
    }

    struct Index {
        const SCEV *value; // as if it never wrapped around
        std::int64_t least, greatest;
    };
    ArrayRef<Index> indices() const { return indices_; }

  private:
    template <class Extend>
    const SCEV *widened(const SCEVCastExpr &index, Extend extend) {
        const auto *narrow = dyn_cast<SCEVAddRecExpr>(index.getOperand());
        const std::uint64_t bits = SE.getTypeSizeInBits(index.getOperand()->getType());
        if (!narrow || !narrow->isAffine() || SE.isLoopInvariant(narrow, &loop_) || bits > 32 ||
            SE.getTypeSizeInBits(index.getType()) != 64)
            return &index;
        const SCEV *value =
            SE.getAddRecExpr(visit(extend(narrow->getStart())),
                             SE.getSignExtendExpr(narrow->getStepRecurrence(SE), index.getType()),
                             narrow->getLoop(), SCEV::FlagAnyWrap);
        const bool is_signed = isa<SCEVSignExtendExpr>(index);
        const std::int64_t size = std::int64_t{1} << (is_signed ? bits - 1 : bits);
        indices_.push_back({value, is_signed ? -size : 0, size - 1});
        return value;
    }

    const Loop &loop_;
    SmallVector<Index, 4> indices_;
};

} // namespace

bool Ranges::usable(const SCEV *value, const Loop &loop) const {
    return evolution_.isLoopInvariant(value, &loop) &&
           evolution_.getTypeSizeInBits(value->getType()) <= 64 &&
           expander_.isSafeToExpandAt(value, loop.getLoopPreheader()->getTerminator());
}

const SCEV *Ranges::widened(const SCEV *value, const Loop &loop, Indices &indices) const {
    Widening widening(evolution_, loop);
    const SCEV *wider = widening.visit(value);
    for (const Widening::Index &index : widening.indices()) {
        const std::optional<Range::Recurrence> values = recurrence(index.value, loop, indices);
        if (!values)
            return nullptr;
        indices.push_back({*values, index.least, index.greatest});
    }
    return wider;
}

// How often `inner` goes round at most, however far the loops around it are. It may be `loop`.
const SCEV *Ranges::most_rounds(const Loop &inner, const Loop &loop, Indices &indices) const {
    constexpr unsigned kFewBits = 20; // such a bound is as good as any
    const SCEV *rounds = evolution_.getSymbolicMaxBackedgeTakenCount(&inner);
    if (!isa<SCEVCouldNotCompute>(rounds) && usable(rounds, loop))
        return rounds;
    const auto *constant =
        dyn_cast<SCEVConstant>(evolution_.getConstantMaxBackedgeTakenCount(&inner));
    if (isa<SCEVCouldNotCompute>(rounds) ||
        (constant && constant->getAPInt().getActiveBits() <= kFewBits))
        return constant;
    const std::size_t before = indices.size();
    if (const SCEV *most = most_of_triangle(rounds, inner, loop, indices))
        return most;
    indices.truncate(before);
    return constant;
}

// The rounds grow or shrink by constants with those of the loops around. So there are most in the
// first or in the last of these. In some the number may be negative. Then a loop with one way out
// is not entered: it would go round 2^63 times.
const SCEV *Ranges::most_of_triangle(const SCEV *rounds, const Loop &inner, const Loop &loop,
                                     Indices &indices) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 62;
    Type *const wide = Type::getInt64Ty(loop.getHeader()->getContext());
    const bool may_be_negative = inner.getExitingBlock() && rounds->getType() == wide &&
                                 evolution_.getBackedgeTakenCount(&inner) == rounds;
    const SCEV *wider = widened(evolution_.getTruncateOrZeroExtend(rounds, wide), loop, indices);
    const std::optional<Range::Recurrence> values =
        wider ? recurrence(wider, loop, indices) : std::nullopt;
    if (!values)
        return nullptr;
    const SCEV *most = values->first;
    for (const Range::Step &step : values->loops) {
        const auto *stride = dyn_cast<SCEVConstant>(step.stride);
        if (!stride)
            return nullptr;
        if (stride->getAPInt().isStrictlyPositive())
            most = evolution_.getAddExpr(most, evolution_.getMulExpr(stride, step.rounds));
    }
    indices.push_back({*values, may_be_negative ? -kFar : 0, kFar});
    if (may_be_negative)
        most = evolution_.getSMaxExpr(most, evolution_.getZero(wide));
    return usable(most, loop) ? most : nullptr;
}

std::optional<Range::Recurrence> Ranges::recurrence(const SCEV *value, const Loop &loop,
                                                    Indices &indices) const {
    Type *const wide = Type::getInt64Ty(loop.getHeader()->getContext());
    Range::Recurrence found = {value, {}};
    while (!evolution_.isLoopInvariant(found.first, &loop)) {
        const auto *address = dyn_cast<SCEVAddRecExpr>(found.first);
        if (!address || !address->isAffine() || found.loops.size() == Rewriting::kMostLoops)
            return std::nullopt;
        const SCEV *stride = address->getStepRecurrence(evolution_);
        const SCEV *rounds = most_rounds(*address->getLoop(), loop, indices);
        if (!rounds || !usable(stride, loop))
            return std::nullopt;
        found.loops.push_back({evolution_.getTruncateOrSignExtend(stride, wide),
                               evolution_.getTruncateOrZeroExtend(rounds, wide)});
        found.first = address->getStart();
    }
    return usable(found.first, loop) ? std::optional(found) : std::nullopt;
}

std::optional<Range> Ranges::find(const Touch &touch, const Loop &loop) const {
    Type *const wide = Type::getInt64Ty(loop.getHeader()->getContext());
    const SCEV *bytes = touch.bytes ? evolution_.getSCEV(touch.bytes)
                                    : evolution_.getStoreSizeOfExpr(wide, touch.type);
    SmallVector<Range::Index, 4> indices;
    const SCEV *memory = widened(evolution_.getSCEV(touch.memory), loop, indices);
    const std::optional<Range::Recurrence> address =
        memory ? recurrence(memory, loop, indices) : std::nullopt;
    if (!address || !usable(bytes, loop))
        return std::nullopt;
    return Range{touch, *address, evolution_.getTruncateOrZeroExtend(bytes, wide), indices};
}

std::optional<Range> Ranges::find_variable(const Touch &touch, const Loop &loop) const {
    Value *object = getUnderlyingObject(touch.memory, 0);
    const DataLayout &layout = loop.getHeader()->getDataLayout();
    std::optional<TypeSize> size;
    if (const auto *global = dyn_cast<GlobalVariable>(object);
        global && !global->isDeclaration() && !global->isInterposable() && !global->isThreadLocal())
        size = layout.getTypeAllocSize(global->getValueType());
    else if (const auto *own = dyn_cast<AllocaInst>(object); own && own->isStaticAlloca())
        size = own->getAllocationSize(layout);
    if (!size || size->isScalable())
        return std::nullopt;
    Type *const wide = Type::getInt64Ty(loop.getHeader()->getContext());
    return Range{touch,
                 {evolution_.getSCEV(object), {}},
                 evolution_.getConstant(wide, size->getFixedValue()),
                 {}};
}

// Whole objects are known to be disjoint elsewhere. So this only has to see what is always waited
// for.
bool Ranges::meets(const Range &range, Value *buffer, const Loop &loop) {
    const SCEV *place = evolution_.getSCEV(buffer);
    const bool elsewhere = SCEVExprContains(place, [&](const SCEV *part) {
        const auto *address = dyn_cast<SCEVAddRecExpr>(part);
        return address && !address->getLoop()->contains(&loop);
    });
    if (elsewhere || place->getType() != range.address.first->getType())
        return false;
    const auto *by = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(place, range.address.first));
    const auto *bytes = dyn_cast<SCEVConstant>(range.bytes);
    if (!by || by->getAPInt().getSignificantBits() > 62)
        return false;
    std::int64_t first = 0, behind = bytes ? bytes->getAPInt().getSExtValue() : 1;
    for (const Range::Step &step : range.address.loops) {
        const auto *stride = dyn_cast<SCEVConstant>(step.stride);
        const auto *rounds = dyn_cast<SCEVConstant>(step.rounds);
        std::int64_t way = 0;
        if (stride && rounds &&
            !__builtin_mul_overflow(stride->getAPInt().getSExtValue(),
                                    rounds->getAPInt().getSExtValue(), &way))
            (way < 0 ? first : behind) += way;
    }
    const std::int64_t at = by->getAPInt().getSExtValue();
    return first <= at && at < behind;
}

std::optional<Range> Ranges::joined(const Range &one, const Range &other) {
    if (one.touch.writes != other.touch.writes || one.address.loops != other.address.loops)
        return std::nullopt;
    const auto *distance =
        dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(other.address.first, one.address.first));
    const auto *bytes = dyn_cast<SCEVConstant>(one.bytes);
    const auto *others = dyn_cast<SCEVConstant>(other.bytes);
    if (!distance || !bytes || !others || distance->getAPInt().getSignificantBits() > 32)
        return std::nullopt;
    const std::int64_t by = distance->getAPInt().getSExtValue();
    if (by < 0)
        return joined(other, one);
    Range both = one;
    both.bytes =
        evolution_.getConstant(bytes->getType(), std::max(bytes->getAPInt().getZExtValue(),
                                                          others->getAPInt().getZExtValue() +
                                                              static_cast<std::uint64_t>(by)));
    for (const Range::Index &index : other.indices)
        if (!is_contained(both.indices, index))
            both.indices.push_back(index);
    return both;
}

bool Ranges::can_ask(const Range &range, const Instruction &before) const {
    const auto can = [&](const SCEV *value) { return expander_.isSafeToExpandAt(value, &before); };
    const auto can_all = [&](const Range::Recurrence &number) {
        return can(number.first) && all_of(number.loops, [&](const Range::Step &step) {
                   return can(step.stride) && can(step.rounds);
               });
    };
    return can_all(range.address) && can(range.bytes) &&
           all_of(range.indices, [&](const Range::Index &index) { return can_all(index.values); });
}

Ranges::Expanded Ranges::expanded(Rewriting &rewriting, Instruction &before, const Range &range) {
    const auto expand = [&](const SCEV *value) {
        return expander_.expandCodeFor(value, value->getType(), &before);
    };
    const auto expand_loops = [&](const Range::Recurrence &number) {
        SmallVector<Rounds, Rewriting::kMostLoops> loops;
        for (const Range::Step &step : number.loops)
            loops.push_back({expand(step.stride), expand(step.rounds)});
        return loops;
    };
    SmallVector<Value *, 4> certain;
    for (const Range::Index &index : range.indices)
        certain.push_back(rewriting.stays(before, expand(index.values.first), index.least,
                                          index.greatest, expand_loops(index.values)));
    return {expand(range.address.first), expand(range.bytes), expand_loops(range.address), certain};
}

void Ranges::ask(Rewriting &rewriting, Instruction &before, const Range &range) {
    const Expanded asked = expanded(rewriting, before, range);
    rewriting.ask(before, range.touch, asked.memory, asked.bytes, asked.loops, asked.certain);
}

void Ranges::ask(Rewriting::Early &early, const Range &range) {
    const Expanded asked = expanded(early.rewriting(), early.place(), range);
    early.ask(range.touch, asked.memory, asked.bytes, asked.loops, asked.certain);
}

} // namespace sennit::pass
