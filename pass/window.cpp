// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include "mpi_calls.h"
#include "remarks.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;
using Crossing = Operations::Crossing;

namespace {

// More reads and writes than these are not asked for one by one, nor those of one loop.
constexpr unsigned kMostAsked = 16;

// A copy of that many bytes is worth what a loop is.
constexpr std::uint64_t kLongCopy = 512;

// Of what is crossed.
bool is_long(const Instruction &instruction) {
    const auto *call = dyn_cast<CallInst>(&instruction);
    const Function *function = call ? call->getCalledFunction() : nullptr;
    if (function && (!function->isDeclaration() || is_linear_algebra(*function)))
        return true;
    const auto *copy = dyn_cast<MemIntrinsic>(&instruction);
    const auto *length = copy ? dyn_cast<ConstantInt>(copy->getLength()) : nullptr;
    return copy && (!length || length->getZExtValue() >= kLongCopy);
}

} // namespace

Windows::Windows(Function &function, const Operations &rules, const Analyses &analyses)
    : function_(function), rules_(rules), analyses_(analyses),
      ranges_(analyses.evolution, function.getParent()->getDataLayout()) {}

SmallVector<Operation, 8> Windows::chosen(const Set &under_way) const {
    SmallVector<Operation, 8> some;
    for (const unsigned i : under_way.set_bits())
        some.push_back(operations_[i]);
    return some;
}

// The outermost loop around that has no operation. Null: there is none.
const Loop *Windows::whole_loop(const BasicBlock &block) const {
    const Loop *whole = nullptr;
    for (const Loop *loop = analyses_.loops.getLoopFor(&block); loop;
         loop = loop->getParentLoop()) {
        if (loops_with_operations_.contains(loop))
            break;
        whole = loop;
    }
    return whole;
}

// Everything is to be waited for before `place`. Is that new?
bool Windows::wait_at(Instruction &place, const Instruction &reason) {
    const bool fresh = waits_.insert({&place, {&reason, Set(operations_.size())}}).second;
    new_wait_ |= fresh;
    return fresh;
}

void Windows::find(ArrayRef<Operation> operations) {
    operations_.assign(operations.begin(), operations.end());
    numbers_.clear();
    loops_with_operations_.clear();
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        numbers_[operations_[i].call] = i;
        const Loop *loop = analyses_.loops.getLoopFor(operations_[i].call->getParent());
        for (; loop; loop = loop->getParentLoop())
            loops_with_operations_.insert(loop);
    }
    waits_.clear();
    // A new wait only makes less be under way behind it, so all found before still suffice.
    while (flow()) {
    }
    // What was found while more seemed to be under way.
    waits_.remove_if([](const auto &wait) { return wait.second.for_.none(); });
}

// From block to block, until nothing new is under way anywhere. Is there a new wait?
bool Windows::flow() {
    const std::size_t count = operations_.size();
    at_entry_.clear();
    touches_.clear();
    loop_touches_.clear();
    new_wait_ = compares_ = false;
    worth_it_ = crosses_ = Set(count);
    asking_loop_.assign(count, 0);
    for (auto &[place, wait] : waits_)
        wait.for_ = Set(count);
    const ReversePostOrderTraversal<Function *> order(&function_);
    for (BasicBlock *block : order)
        at_entry_[block] = Set(count);
    for (bool changed = true; changed && !new_wait_;) {
        changed = false;
        touches_.clear();
        loop_touches_.clear();
        for (BasicBlock *block : order) {
            Set under_way = at_entry_[block];
            pass(*block, under_way);
            for (const BasicBlock *next : successors(block)) {
                Set &entry = at_entry_[next];
                const unsigned before = entry.count();
                entry |= under_way;
                changed |= entry.count() != before;
            }
        }
    }
    return new_wait_;
}

void Windows::note_crossing(const Set &under_way) {
    crosses_ |= under_way;
    worth_it_ |= under_way;
}

// A loop that goes on for ever would keep others waiting for what is never sent.
bool Windows::may_not_end(const BasicBlock &block) {
    for (const Loop *loop = analyses_.loops.getLoopFor(&block); loop; loop = loop->getParentLoop())
        if (is_contained(successors(&block), loop->getHeader()) && !ranges_.ends(*loop))
            return true;
    return false;
}

void Windows::pass(BasicBlock &block, Set &under_way) {
    unsigned asked = 0;
    for (Instruction &instruction : block) {
        if (const auto wait = waits_.find(&instruction); wait != waits_.end()) {
            wait->second.for_ |= under_way;
            under_way.reset();
        }
        if (const auto number = numbers_.find(&instruction); number != numbers_.end())
            start(instruction, number->second, under_way);
        else if (under_way.any())
            step(instruction, under_way, asked);
    }
    if (whole_loop(block))
        note_crossing(under_way);
}

void Windows::start(Instruction &instruction, std::size_t operation, Set &under_way) {
    const Operation &next = operations_[operation];
    SmallVector<Operation, 8> others;
    bool again = false; // from the loop's last round
    for (const unsigned i : under_way.set_bits()) {
        const Loop *loop = analyses_.loops.getLoopFor(next.call->getParent());
        const bool elsewhere = i == operation && loop && next.has_buffers_of_rounds(*loop) &&
                               Operations::may_follow_in_order(next, next);
        again |= elsewhere;
        if (!elsewhere)
            others.push_back(operations_[i]);
    }
    if (!rules_.may_follow(others, next) || (again && !rules_.status_is_disjoint({}, next))) {
        wait_at(instruction, instruction);
        under_way.reset();
    }
    for (const unsigned i : under_way.set_bits())
        compares_ |= (next.receives || operations_[i].receives) &&
                     (i == operation || !rules_.disjoint(operations_[i], next));
    if (under_way.any()) {
        worth_it_ |= under_way;
        worth_it_.set(operation);
    }
    under_way.set(operation);
}

void Windows::step(Instruction &instruction, Set &under_way, unsigned &asked) {
    const auto wait_here = [&] {
        wait_at(instruction, instruction);
        under_way.reset();
    };
    const Loop *whole = whole_loop(*instruction.getParent());
    if (instruction.isTerminator()) {
        const bool endless = may_not_end(*instruction.getParent());
        if (endless && whole && whole->getLoopPreheader())
            wait_at(*whole->getLoopPreheader()->getTerminator(), instruction);
        if (endless || !isa<BranchInst, SwitchInst>(instruction))
            wait_here();
        return;
    }
    SmallVector<Touch, 2> touches;
    const Crossing how = rules_.crossing(instruction, chosen(under_way), touches);
    switch (how) {
    case Crossing::allowed:
        break;
    case Crossing::never: {
        // In each round of a loop: before the first one.
        const Loop *inner = analyses_.loops.getLoopFor(instruction.getParent());
        if (whole && whole->getLoopPreheader() && inner->getLoopLatch() &&
            analyses_.dominators.dominates(instruction.getParent(), inner->getLoopLatch()))
            wait_at(*whole->getLoopPreheader()->getTerminator(), instruction);
        wait_here();
        break;
    }
    case Crossing::asked:
    case Crossing::inside:
        if (whole && whole->getLoopPreheader()) {
            for (const Touch &touch : touches)
                touch_in_loop(touch, how == Crossing::inside, *whole, under_way);
            break;
        }
        asked += touches.size();
        if (how == Crossing::inside || asked > kMostAsked) {
            wait_here();
            break;
        }
        compares_ = true;
        touches_.append(touches);
        break;
    }
    if (under_way.any() && is_long(instruction))
        note_crossing(under_way);
}

void Windows::touch_in_loop(const Touch &touch, bool inside, const Loop &loop,
                            const Set &under_way) {
    Instruction &before = *loop.getLoopPreheader()->getTerminator();
    std::optional<Range> range = ranges_.find(touch, loop);
    if (!range && !inside)
        range = ranges_.find_variable(touch, loop);
    const bool met = range && any_of(chosen(under_way), [&](const Operation &one) {
                         return any_of(one.buffers(), [&](const Buffer &buffer) {
                             return (touch.writes || buffer.is_written) &&
                                    ranges_.meets(*range, buffer.memory, loop);
                         });
                     });
    SmallVector<Range, 4> &ranges = loop_touches_[&loop];
    if (!range || met || ranges.size() > kMostAsked) {
        wait_at(before, *touch.instruction);
        return;
    }
    compares_ = true;
    for (const unsigned i : under_way.set_bits())
        if (const DebugLoc &where = loop.getStartLoc(); where && asking_loop_[i] == 0)
            asking_loop_[i] = where.getLine();
    for (Range &other : ranges)
        if (std::optional<Range> both = ranges_.joined(other, *range)) {
            other = *both;
            return;
        }
    ranges.push_back(*range);
}

std::string described_place(const Instruction &instruction) {
    if (isa<ReturnInst>(instruction))
        return "the function's end";
    if (isa<BranchInst, SwitchInst>(instruction))
        return "a loop that may go on for ever";
    return described(instruction, true);
}

std::string Windows::frontier(std::size_t operation, std::size_t &others) const {
    std::string first;
    others = 0;
    for (const auto &[place, wait] : waits_) {
        if (!wait.for_.test(operation))
            continue;
        if (first.empty())
            first = described_place(*wait.reason);
        else
            ++others;
    }
    return first;
}

void Windows::apply(Rewriting &rewriting) {
    for (const auto &[loop, ranges] : loop_touches_)
        for (const Range &range : ranges)
            ranges_.ask(rewriting, *loop->getLoopPreheader()->getTerminator(), range);
    for (const Touch &touch : touches_)
        rewriting.ask(touch);
    for (const auto &[place, wait] : waits_)
        rewriting.finish(*place);
}

} // namespace sennit::pass
