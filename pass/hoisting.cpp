// SPDX-License-Identifier: Apache-2.0
#include "hoisting.h"

#include "quiet_calls.h"
#include "remarks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;
using Crossing = Operations::Crossing;

namespace {

// Blocks that a receive may cross at a time, and what a loop may touch.
constexpr unsigned kMostBlocks = 64, kMostRanges = 8;

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
        : all_(all), found_{operation, nullptr, nullptr, {}, {}, {}, {}} {
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

    void start_before(Instruction &place, std::string what) {
        found_.before = &place;
        found_.operands = operands_;
        found_.sends = sends_;
        found_.behind = behind_;
        found_.crossed = std::move(what);
    }

    bool cross_back_to_begin(BasicBlock &block, Instruction *from) {
        for (auto at = from->getReverseIterator(); ++at != block.rend();) {
            Instruction &instruction = *at;
            if (isa<PHINode>(instruction))
                return !any_of(block.phis(), [&](PHINode &phi) { return needed_.contains(&phi); });
            SmallVector<Touch, 2> touches;
            if (!cross(instruction, touches))
                return false;
            const bool quiet = is_quiet_call(instruction);
            if (!touches.empty() || how_ == Crossing::never) {
                if (quiet)
                    say_obstacle(described(instruction, true));
                return false;
            }
            if (quiet)
                start_before(instruction, described(instruction, true));
            if (&instruction == limit_)
                return false;
        }
        return true;
    }

    bool is_quiet_call(const Instruction &instruction) const {
        const auto *call = dyn_cast<CallInst>(&instruction);
        return call && is_quiet(*call, all_.analyses_.aliases);
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
        return !needed_.contains(&instruction) || compute_earlier(instruction);
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
        if (!behind_) {
            behind_ = other.operation.call;
            limit_ = other.before;
        }
        return true;
    }

    bool compute_earlier(Instruction &instruction) {
        auto *load = dyn_cast<LoadInst>(&instruction);
        SmallVector<Touch, 2> touches;
        // What other messages bring may not have come by then.
        if (load && load->isSimple() &&
            all_.rules_.crossing(*load, all_.operations_, touches) == Crossing::allowed)
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

    // The block that it goes on from. Null: it cannot.
    BasicBlock *cross_what_is_before(BasicBlock &block) {
        const LoopInfo &loops = all_.analyses_.loops;
        BasicBlock *dominator = dominator_of(block);
        while (dominator && loops.getLoopFor(dominator) &&
               !loops.getLoopFor(dominator)->contains(&block)) // the end of a loop
            dominator = dominator_of(*dominator);
        Blocks between;
        if (!dominator || !find_between(*dominator, block, between))
            return nullptr;
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
            if (!cross_block(*one, between, end)) {
                found_.ranges.clear();
                return nullptr;
            }
        const bool asked = !found_.ranges.empty();
        if (first)
            start_before(end, described_loop(*first));
        else
            found_.ranges.clear();
        // Above, what was asked could not be computed.
        return limit_ == &end || asked ? nullptr : dominator;
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
            return false;
        for (Instruction &instruction : block) {
            SmallVector<Touch, 2> touches;
            if (instruction.isTerminator())
                continue;
            // A receive that is not always started; what only the loop computes.
            auto *call = dyn_cast<CallInst>(&instruction);
            if ((call && all_.hoists_.count(call) > 0) || needed_.contains(&instruction))
                return false;
            if (call && is_send(instruction) && !can_be_asked(*call, end))
                return false;
            const bool crosses = cross(instruction, touches);
            if (crosses && how_ != Crossing::never &&
                all_of(touches, [&](const Touch &touch) { return asks(touch, loop, end); }))
                continue;
            if (loop && crosses && touches_memory(instruction))
                say_obstacle(described_loop(*loop) + ": " + described(instruction, true));
            return false;
        }
        return true;
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
        const std::optional<Range> range = ranges.find(touch, *loop);
        if (!range || !ranges.can_ask(*range, end) ||
            ranges.meets(*range, found_.operation.buffers()[0].memory, *loop))
            return false;
        for (Range &other : found_.ranges) {
            if (other.touch.writes != range->touch.writes)
                continue;
            if (std::optional<Range> both = ranges.joined(other, *range)) {
                other = *both;
                return true;
            }
        }
        found_.ranges.push_back(*range);
        return found_.ranges.size() <= kMostRanges;
    }

    void say_obstacle(std::string text) {
        if (!succeeds())
            obstacle_ = std::move(text);
    }

    Hoisting &all_;
    Hoist found_;
    std::string obstacle_;
    Crossing how_ = Crossing::allowed;
    SmallVector<CallInst *, 2> sends_; // that have to be asked for
    const CallInst *behind_ = nullptr;
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
    if (any_of(operations, [](const Operation &one) { return one.collective != nullptr; }))
        return;
    for (const Operation &operation : operations) {
        if (operation.sends || !rules_.status_is_disjoint(operations, operation))
            continue;
        Climb climb(*this, operation);
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
        Rewriting::Early early(rewriting, hoist.operation, *hoist.before, hoist.operands);
        for (const Range &range : hoist.ranges)
            ranges_.ask(early, range);
        for (const CallInst *send : hoist.sends)
            early.ask(*send);
        early.start(hoist.behind);
    }
}

} // namespace sennit::pass
