// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

namespace sennit::pass {

using namespace llvm;

bool Ranges::ends(const Loop &loop) {
    return isMustProgress(&loop) ||
           !isa<SCEVCouldNotCompute>(evolution_.getSymbolicMaxBackedgeTakenCount(&loop));
}

std::optional<Range> Ranges::find(const Touch &touch, const Loop &loop) {
    const Instruction *before = loop.getLoopPreheader()->getTerminator();
    Type *const wide = Type::getInt64Ty(before->getContext());
    const auto usable = [&](const SCEV *value) {
        return evolution_.isLoopInvariant(value, &loop) &&
               evolution_.getTypeSizeInBits(value->getType()) <= 64 &&
               expander_.isSafeToExpandAt(value, before);
    };
    Range range = {touch, evolution_.getSCEV(touch.memory), nullptr, {}};
    range.bytes = touch.bytes ? evolution_.getSCEV(touch.bytes)
                              : evolution_.getStoreSizeOfExpr(wide, touch.type);
    while (!evolution_.isLoopInvariant(range.first, &loop)) {
        const auto *address = dyn_cast<SCEVAddRecExpr>(range.first);
        if (!address || !address->isAffine() || range.loops.size() == Rewriting::kMostLoops)
            return std::nullopt;
        const SCEV *stride = address->getStepRecurrence(evolution_);
        const SCEV *rounds = evolution_.getSymbolicMaxBackedgeTakenCount(address->getLoop());
        if (isa<SCEVCouldNotCompute>(rounds) || !usable(rounds))
            rounds = evolution_.getConstantMaxBackedgeTakenCount(address->getLoop());
        if (isa<SCEVCouldNotCompute>(rounds) || !usable(rounds) || !usable(stride))
            return std::nullopt;
        range.loops.push_back({evolution_.getTruncateOrSignExtend(stride, wide),
                               evolution_.getTruncateOrZeroExtend(rounds, wide)});
        range.first = address->getStart();
    }
    if (!usable(range.first) || !usable(range.bytes))
        return std::nullopt;
    range.bytes = evolution_.getTruncateOrZeroExtend(range.bytes, wide);
    return range;
}

// Whole objects are known to be apart elsewhere. So this only has to see what is always waited for.
bool Ranges::meets(const Range &range, Value *buffer, const Loop &loop) {
    const SCEV *place = evolution_.getSCEV(buffer);
    const bool elsewhere = SCEVExprContains(place, [&](const SCEV *part) {
        const auto *address = dyn_cast<SCEVAddRecExpr>(part);
        return address && !address->getLoop()->contains(&loop);
    });
    if (elsewhere || place->getType() != range.first->getType())
        return false;
    const auto *by = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(place, range.first));
    const auto *bytes = dyn_cast<SCEVConstant>(range.bytes);
    if (!by || by->getAPInt().getSignificantBits() > 62)
        return false;
    std::int64_t first = 0, behind = bytes ? bytes->getAPInt().getSExtValue() : 1;
    for (const Range::Step &step : range.loops) {
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
    if (one.touch.writes != other.touch.writes || one.loops != other.loops)
        return std::nullopt;
    const auto *apart = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(other.first, one.first));
    const auto *bytes = dyn_cast<SCEVConstant>(one.bytes);
    const auto *others = dyn_cast<SCEVConstant>(other.bytes);
    if (!apart || !bytes || !others || apart->getAPInt().getSignificantBits() > 32)
        return std::nullopt;
    const std::int64_t by = apart->getAPInt().getSExtValue();
    if (by < 0)
        return joined(other, one);
    Range both = one;
    both.bytes =
        evolution_.getConstant(bytes->getType(), std::max(bytes->getAPInt().getZExtValue(),
                                                          others->getAPInt().getZExtValue() +
                                                              static_cast<std::uint64_t>(by)));
    return both;
}

void Ranges::ask(Rewriting &rewriting, Instruction &before, const Range &range) {
    const auto expand = [&](const SCEV *value) {
        return expander_.expandCodeFor(value, value->getType(), &before);
    };
    SmallVector<Rounds, Rewriting::kMostLoops> loops;
    for (const Range::Step &step : range.loops)
        loops.push_back({expand(step.stride), expand(step.rounds)});
    rewriting.ask(before, range.touch, expand(range.first), expand(range.bytes), loops);
}

} // namespace sennit::pass
