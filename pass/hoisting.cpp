// SPDX-License-Identifier: Apache-2.0
#include "hoisting.h"

#include "quiet_calls.h"
#include "remarks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;
using Crossing = Operations::Crossing;

namespace {

// Blocks that a receive may cross at a time, and what a loop may touch.
constexpr unsigned kMostBlocks = 64, kMostRanges = 8;
constexpr char kNotKnown[] = "what it is given is not known there";
// Branches in which a receive may stand.
constexpr std::size_t kMostConditions = 4;

bool is_computation(const Instruction &instruction) {
    return isa<GetElementPtrInst, CastInst, BinaryOperator, CmpInst, SelectInst>(instruction);
}

std::string described_loop(const Loop &loop) {
    const DebugLoc where = loop.getStartLoc();
    return where ? "the loop in line " + std::to_string(where.getLine()) : "a loop";
}

} // namespace

// The way of one receive up through its function.
class Hoisting::Climb {
  public:
    Climb(Hoisting &all, const Operation &operation)
        : all_(all), found_{operation, nullptr, {}, {}, {}, {}, {}, {}} {
        for (Value *argument : operation.call->args())
            need(argument);
    }

    void run() {
        BasicBlock *block = found_.operation.call->getParent();
        Instruction *from = found_.operation.call;
        while (block && cross_back_to_begin(*block, from)) {
            block = cross_what_is_before(*block);
            from = block ? block->getTerminator() : nullptr;
        }
        if (!succeeds() && obstacle_.empty())
            refuse(stopped_.empty() ? "the function may not come to it" : stopped_);
    }

    // Is there anything that it would be started before?
    void refuse(const std::string &reason) {
        if (const Loop *loop = loop_in_front())
            obstacle_ = described_loop(*loop) + ": " + reason;
    }

    bool succeeds() const { return found_.before != nullptr; }
    Hoist &found() { return found_; }
    const std::string &obstacle() const { return obstacle_; }

  private:
    using Blocks = SmallSetVector<BasicBlock *, 16>;

    void need(Value *value) {
        if (auto *instruction = dyn_cast<Instruction>(value))
            needed_.insert(instruction);
    }

    // If what has to be asked for can be computed there.
    bool start_before(Instruction &place, std::string what) {
        if (!all_of(ranges_,
                    [&](const Range &range) { return all_.ranges_.can_ask(range, place); }))
            return false;
        found_.before = &place;
        found_.operands = operands_;
        found_.ranges = ranges_;
        found_.sends = sends_;
        found_.behind = behind_;
        found_.conditions = conditions_;
        found_.crossed = std::move(what);
        return true;
    }

    bool cross_back_to_begin(BasicBlock &block, Instruction *from) {
        for (auto at = from->getReverseIterator(); ++at != block.rend();) {
            Instruction &instruction = *at;
            if (isa<PHINode>(instruction))
                return !any_of(block.phis(), [&](PHINode &phi) {
                    return needed_.contains(&phi);
                }) || stop(kNotKnown);
            SmallVector<Touch, 2> touches;
            if (!cross(instruction, touches))
                return stop(described(instruction, true));
            const bool quiet = is_quiet_call(instruction);
            if (!touches.empty() || how_ == Crossing::never) {
                if (quiet)
                    say_obstacle(described(instruction, true));
                return stop(described(instruction, true));
            }
            if (quiet && !start_before(instruction, described(instruction, true)))
                return false;
            if (&instruction == limit_)
                return stop("nor is a receive in front of it");
        }
        return true;
    }

    bool is_quiet_call(const Instruction &instruction) const {
        const auto *call = dyn_cast<CallInst>(&instruction);
        return call && is_long_computation(*call, all_.analyses_.aliases);
    }

    // May it be crossed, but for what it touches?
    bool cross(Instruction &instruction, SmallVectorImpl<Touch> &touches) {
        how_ = Crossing::allowed;
        if (auto *call = dyn_cast<CallInst>(&instruction)) {
            if (const auto other = all_.hoists_.find(call); other != all_.hoists_.end())
                return cross_receive(other->second);
            if (is_send(instruction))
                return cross_send(*call);
        }
        how_ = is_wait_of_others(instruction)
                   ? Crossing::allowed
                   : all_.rules_.crossing(instruction, found_.operation, touches);
        if (how_ != Crossing::never && instruction.mayWriteToMemory() &&
            any_of(loads_, [&](const LoadInst *load) {
                return isModSet(all_.analyses_.aliases.results().getModRefInfo(
                    &instruction, MemoryLocation::get(load)));
            }))
            return false;
        return !needed_.contains(&instruction) || compute_earlier(instruction) || stop(kNotKnown);
    }

    bool is_send(Instruction &instruction) const {
        const Operation other = all_.rules_.at(instruction);
        return other.call && !other.receives && !other.refusal;
    }

    // It writes nothing. What it reads must not be what is received. If only the running program
    // knows that, what the send is given has to be known where the receive is started.
    bool cross_send(CallInst &call) {
        if (all_.rules_.disjoint(all_.rules_.at(call), found_.operation))
            return true;
        if (call.getArgOperand(PointToPoint::kBuffer)->stripPointerCasts() ==
            found_.operation.buffers()[0].memory->stripPointerCasts())
            return false;
        sends_.push_back(&call);
        for (unsigned i = PointToPoint::kBuffer; i <= PointToPoint::kDatatype; ++i)
            need(call.getArgOperand(i));
        return true;
    }

    // Operations that began before keep their messages. Their buffers may be used again behind the
    // wait: so ours must be none that anybody else knows of.
    bool is_wait_of_others(const Instruction &instruction) const {
        const auto *call = dyn_cast<CallInst>(&instruction);
        return call && may_wait(*call) && all_.rules_.is_hidden_from(found_.operation, *call);
    }

    // It is started earlier, too: before this one, which is not started before it.
    bool cross_receive(const Hoist &other) {
        if (!limit_ || all_.analyses_.dominators.dominates(limit_, other.before))
            limit_ = other.before;
        behind_.push_back(other.operation.call);
        return true;
    }

    bool compute_earlier(Instruction &instruction) {
        auto *load = dyn_cast<LoadInst>(&instruction);
        SmallVector<Touch, 2> touches;
        // What other messages bring may not have come by then.
        if (load && all_.rules_.crossing(*load, all_.operations_, touches) == Crossing::allowed)
            loads_.push_back(load);
        else if (!is_computation(instruction))
            return false;
        operands_.push_back(&instruction);
        for (Value *operand : instruction.operands())
            need(operand);
        return true;
    }

    BasicBlock *dominator_of(BasicBlock &block) const {
        const auto *node = all_.analyses_.dominators.getNode(&block);
        return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    }

    // Blocks on the way from the one to the other, if there is no way out of them.
    bool find_between(BasicBlock &dominator, BasicBlock &block, Blocks &between) const {
        const LoopInfo &loops = all_.analyses_.loops;
        if (loops.getLoopFor(&dominator) != loops.getLoopFor(&block) ||
            !isa<BranchInst, SwitchInst>(dominator.getTerminator()))
            return false;
        for (BasicBlock *before : predecessors(&block))
            if (before != &dominator)
                between.insert(before);
        for (unsigned i = 0; i < between.size(); ++i) {
            if (between.size() > kMostBlocks || between[i] == &block)
                return false;
            for (BasicBlock *before : predecessors(between[i]))
                if (before != &dominator)
                    between.insert(before);
        }
        const auto stays = [&](BasicBlock *next) {
            return next == &block || between.contains(next);
        };
        return all_of(successors(&dominator), stays) && all_of(between, [&](BasicBlock *one) {
                   return isa<BranchInst, SwitchInst>(one->getTerminator()) &&
                          all_of(successors(one), stays);
               });
    }

    // Above a branch: is it known there, if the branch is taken, and can it be computed even if it
    // is not?
    bool is_condition(BasicBlock &branching, BasicBlock &block) {
        const auto *branch = dyn_cast<BranchInst>(branching.getTerminator());
        const LoopInfo &loops = all_.analyses_.loops;
        if (!branch || !branch->isConditional() || block.getSinglePredecessor() != &branching ||
            branch->getSuccessor(0) == branch->getSuccessor(1) ||
            loops.getLoopFor(&branching) != loops.getLoopFor(&block) ||
            conditions_.size() == kMostConditions)
            return false;
        // If it is not taken, a variable may be no datatype.
        const auto has_constant_type = [](const CallInst *call) {
            return isa<Constant>(call->getArgOperand(PointToPoint::kDatatype));
        };
        if (!has_constant_type(found_.operation.call) || !all_of(sends_, has_constant_type) ||
            !all_of(operands_,
                    [](const Instruction *one) { return isSafeToSpeculativelyExecute(one); }))
            return false;
        conditions_.push_back({branch->getCondition(), branch->getSuccessor(0) == &block});
        need(branch->getCondition());
        return true;
    }

    // The block that it goes on from. Null: it cannot.
    BasicBlock *cross_what_is_before(BasicBlock &block) {
        const LoopInfo &loops = all_.analyses_.loops;
        BasicBlock *dominator = dominator_of(block);
        while (dominator && loops.getLoopFor(dominator) &&
               !loops.getLoopFor(dominator)->contains(&block)) // the end of a loop
            dominator = dominator_of(*dominator);
        Blocks between;
        if (!dominator)
            return nullptr;
        if (!find_between(*dominator, block, between))
            return is_condition(*dominator, block) ? dominator : nullptr;
        const Loop *first = nullptr;
        for (BasicBlock *one : between) {
            const Loop *loop = outermost(*one, between);
            if (loop && !sends(*loop) &&
                (!first ||
                 all_.analyses_.dominators.dominates(loop->getHeader(), first->getHeader())))
                first = loop;
        }
        Instruction &end = *dominator->getTerminator();
        for (BasicBlock *one : between)
            if (!cross_block(*one, between, end))
                return nullptr;
        if (first && !start_before(end, described_loop(*first)))
            return nullptr;
        return limit_ == &end ? nullptr : dominator;
    }

    bool sends(const Loop &loop) const {
        return any_of(loop.blocks(), [&](BasicBlock *block) {
            return any_of(*block, [&](Instruction &one) { return is_send(one); });
        });
    }

    const Loop *outermost(const BasicBlock &block, const Blocks &between) const {
        const Loop *found = nullptr;
        for (const Loop *loop = all_.analyses_.loops.getLoopFor(&block);
             loop && between.contains(loop->getHeader()); loop = loop->getParentLoop())
            found = loop;
        return found;
    }

    bool cross_block(BasicBlock &block, const Blocks &between, Instruction &end) {
        const Loop *loop = outermost(block, between);
        if (loop && !all_.ranges_.ends(*all_.analyses_.loops.getLoopFor(&block)))
            return stop("it may go on for ever");
        for (Instruction &instruction : block) {
            SmallVector<Touch, 2> touches;
            if (instruction.isTerminator())
                continue;
            // What only the loop computes; a receive that may be started only behind `end`.
            auto *call = dyn_cast<CallInst>(&instruction);
            if (needed_.contains(&instruction))
                return stop(kNotKnown);
            if (const auto other = all_.hoists_.find(call); call && other != all_.hoists_.end()) {
                if (!starts_above(other->second, end))
                    return stop("nor is a receive in front of it");
                cross_receive(other->second);
                continue;
            }
            if (call && is_send(instruction) && !can_be_asked(*call, end))
                return stop(described(instruction));
            const bool crosses = cross(instruction, touches);
            if (crosses && how_ != Crossing::never &&
                all_of(touches, [&](const Touch &touch) { return asks(touch, loop, end); }))
                continue;
            if (loop && crosses && touches_memory(instruction))
                say_obstacle(described_loop(*loop) + ": " + described(instruction, true));
            return stop(described(instruction, true));
        }
        return true;
    }

    bool starts_above(const Hoist &other, const Instruction &end) const {
        return other.before == &end || all_.analyses_.dominators.dominates(other.before, &end);
    }

    // A send that may not be made: if its datatype is one, and what it is given is known there.
    bool can_be_asked(CallInst &send, const Instruction &end) const {
        const auto arguments = {PointToPoint::kBuffer, PointToPoint::kCount,
                                PointToPoint::kDatatype};
        return all_.rules_.disjoint(all_.rules_.at(send), found_.operation) ||
               (isa<Constant>(send.getArgOperand(PointToPoint::kDatatype)) &&
                all_of(arguments, [&](unsigned i) {
                    const auto *value = dyn_cast<Instruction>(send.getArgOperand(i));
                    return !value || all_.analyses_.dominators.dominates(value, &end);
                }));
    }

    bool touches_memory(const Instruction &instruction) const {
        return isa<LoadInst, StoreInst, MemIntrinsic>(instruction) || is_quiet_call(instruction);
    }

    // Can it be asked before the loop whether this is apart from the buffer?
    bool asks(const Touch &touch, const Loop *loop, const Instruction &end) {
        if (!loop || !loop->getLoopPreheader())
            return false;
        Ranges &ranges = all_.ranges_;
        std::optional<Range> range = ranges.find(touch, *loop);
        if (!range && how_ != Crossing::inside)
            range = ranges.find_variable(touch, *loop);
        if (!range || !ranges.can_ask(*range, end) ||
            ranges.meets(*range, found_.operation.buffers()[0].memory, *loop))
            return false;
        for (Range &other : ranges_) {
            if (other.touch.writes != range->touch.writes)
                continue;
            if (std::optional<Range> both = ranges.joined(other, *range)) {
                other = *both;
                return true;
            }
        }
        ranges_.push_back(*range);
        return ranges_.size() <= kMostRanges;
    }

    // The nearest loop that the receive would have to be started before, and that is worth it: in
    // the same round of the loops around both.
    const Loop *loop_in_front() const {
        const LoopInfo &loops = all_.analyses_.loops;
        const DominatorTree &dominators = all_.analyses_.dominators;
        BasicBlock &here = *found_.operation.call->getParent();
        const Loop *around = loops.getLoopFor(&here);
        if (around && &here == around->getHeader())
            return nullptr;
        SmallPtrSet<BasicBlock *, 1> next_round;
        if (around)
            next_round.insert(around->getHeader());
        const Loop *nearest = nullptr;
        for (const Loop *loop : around ? around->getSubLoops() : loops.getTopLevelLoops())
            if (!sends(*loop) &&
                isPotentiallyReachable(loop->getHeader(), &here, &next_round, &dominators) &&
                (!nearest || isPotentiallyReachable(nearest->getHeader(), loop->getHeader(),
                                                    &next_round, &dominators)))
                nearest = loop;
        return nearest;
    }

    // What is not crossed, and why. Is false.
    bool stop(std::string reason) {
        if (stopped_.empty())
            stopped_ = std::move(reason);
        return false;
    }

    void say_obstacle(std::string text) {
        if (!succeeds())
            obstacle_ = std::move(text);
    }

    Hoisting &all_;
    Hoist found_;
    std::string obstacle_, stopped_;
    Crossing how_ = Crossing::allowed;
    SmallVector<Range, 4> ranges_;     // that have to be asked for
    SmallVector<CallInst *, 2> sends_; // the same
    SmallVector<const CallInst *, 4> behind_;
    SmallVector<Rewriting::Condition, 2> conditions_; // the inner ones first
    const Instruction *limit_ = nullptr;
    SmallPtrSet<const Instruction *, 16> needed_;
    SmallVector<Instruction *, 8> operands_;
    SmallVector<const LoadInst *, 4> loads_;
};

Hoisting::Hoisting(Function &function, const Operations &rules, const Windows::Analyses &analyses)
    : analyses_(analyses), rules_(rules),
      ranges_(analyses.evolution, function.getParent()->getDataLayout()) {}

void Hoisting::find(ArrayRef<Operation> operations) {
    operations_.assign(operations.begin(), operations.end());
    const bool has_collectives =
        any_of(operations, [](const Operation &one) { return one.collective != nullptr; });
    for (const Operation &operation : operations) {
        if (operation.sends)
            continue;
        Climb climb(*this, operation);
        if (has_collectives)
            climb.refuse("collective calls of this function are moved");
        else if (!rules_.status_is_disjoint(operations, operation))
            climb.refuse("its status may be in a buffer");
        else
            climb.run();
        if (climb.succeeds())
            hoists_.insert({operation.call, std::move(climb.found())});
        else if (!climb.obstacle().empty())
            obstacles_[operation.call] = climb.obstacle();
    }
}

std::string Hoisting::crossed(const Operation &operation) const {
    return hoists_.find(operation.call)->second.crossed;
}

std::string Hoisting::obstacle(const Operation &operation) const {
    return obstacles_.lookup(operation.call);
}

void Hoisting::apply(Rewriting &rewriting) {
    for (auto &[call, hoist] : hoists_) {
        const SmallVector<Rewriting::Condition, 2> outer_first(reverse(hoist.conditions));
        Rewriting::Early early(rewriting, hoist.operation, *hoist.before, hoist.operands,
                               outer_first);
        for (const Range &range : hoist.ranges)
            ranges_.ask(early, range);
        for (const CallInst *send : hoist.sends)
            early.ask(*send);
        early.start(hoist.behind);
    }
}

} // namespace sennit::pass
