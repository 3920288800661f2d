// SPDX-License-Identifier: Apache-2.0
#include "batching.h"

#include "hoisting.h"
#include "operations.h"
#include "rewriting.h"
#include "window.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"

#include <string>

namespace sennit::pass {
namespace {

using namespace llvm;
using Crossing = Operations::Crossing;

// Which operations are together in one loop, or in a row, and what is said of them.
class Planning {
  public:
    Planning(const Operations &rules, ScalarEvolution &evolution, const DataLayout &layout,
             Remarks &remarks)
        : rules_(rules), ranges_(evolution, layout), remarks_(remarks) {}

    void add(const Loop &loop) {
        SmallVector<Operation, 8> operations;
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (const Operation operation = rules_.at(instruction); operation.call)
                    operations.push_back(operation);
        SmallVector<BasicBlock *, 4> exits;
        loop.getUniqueExitBlocks(exits);
        if (operations.empty() || !loop.getLoopPreheader() || !loop.hasDedicatedExits() ||
            exits.empty())
            return;
        const Operation &first = operations[0];
        const char *name = first.collective ? "collective calls"
                           : first.receives ? "receives"
                                            : "sends";
        if (const std::string reason = obstacle(loop, operations); !reason.empty()) {
            remarks_.missed("LoopNotBatched", *first.call,
                            Twine("the ") + name +
                                " of this loop are waited for one by one: " + reason);
            for (const Operation &operation : operations)
                refused_.insert(operation.call);
            return;
        }
        for (const Operation &operation : operations)
            remarks_.done("LoopBatched", *operation.call,
                          Twine("the ") + name +
                              " of this loop are started together and waited for behind it");
        planned_.insert(loop.blocks().begin(), loop.blocks().end());
        keep(operations);
    }

    void add(BasicBlock &block) {
        if (planned_.contains(&block))
            return;
        SmallVector<Operation, 8> open;
        const auto close = [&] {
            if (open.size() > 1)
                end_row(open);
            open.clear();
        };
        for (Instruction &instruction : block) {
            const Operation operation = rules_.at(instruction);
            if (operation.call && !operation.refusal) {
                if (!rules_.may_follow(open, operation))
                    close();
                open.push_back(operation);
            } else if (!open.empty() && !may_be_crossed(instruction, open)) {
                close();
            }
        }
        close();
    }

    bool has(const Operation &operation) const { return together_.contains(operation.call); }
    // Has it been said why it is not together with others?
    bool refuses(const CallBase &call) const { return refused_.contains(&call); }

  private:
    void keep(ArrayRef<Operation> operations) {
        for (const Operation &operation : operations)
            together_.insert(operation.call);
    }

    bool may_be_crossed(Instruction &instruction, ArrayRef<Operation> operations) const {
        SmallVector<Touch, 2> touches;
        const Crossing how = rules_.crossing(instruction, operations, touches);
        return how == Crossing::allowed || how == Crossing::asked;
    }

    std::string obstacle(const Loop &loop, ArrayRef<Operation> operations) {
        const bool receives = operations[0].receives;
        for (const Operation &operation : operations) {
            // The next round's send, behind a receive.
            if (operation.receives != receives || operation.is_exchange())
                return described(*operation.call);
            if (operation.refusal)
                return operation.refusal;
            if (receives && !operation.has_buffers_of_rounds(loop))
                return "each round receives into the same memory";
            for (const Operation &other : operations)
                if (!Operations::may_follow_in_order(operation, other))
                    return described(*other.call);
            if (!rules_.status_is_disjoint(operations, operation))
                return "its status may be in a buffer";
        }
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (!rules_.at(instruction).call && !may_be_crossed(instruction, operations))
                    return described(instruction);
        return ranges_.ends(loop) ? "" : "it may go on for ever";
    }

    void end_row(ArrayRef<Operation> operations) {
        const bool sends = any_of(operations, [](const Operation &one) { return one.sends; });
        const bool receives = any_of(operations, [](const Operation &one) { return one.receives; });
        const char *name = operations[0].collective ? "collective calls"
                           : !receives              ? "sends"
                           : !sends                 ? "receives"
                                                    : "sends and receives";
        for (const Operation &operation : operations)
            remarks_.done("Batched", *operation.call,
                          Twine(operations.size()) + " " + name +
                              " are started together and waited for once");
        keep(operations);
    }

    const Operations &rules_;
    Ranges ranges_;
    Remarks &remarks_;
    SmallPtrSet<const CallBase *, 16> together_, refused_;
    SmallPtrSet<const BasicBlock *, 16> planned_;
};

std::string title_of(const CallBase &call) {
    const StringRef name = name_of_call(call);
    if (const Collective *what = collective(call))
        return title(name, received_buffer(*what, call));
    return title(
        name, call.getArgOperand(is_exchange(call) ? Exchange::kReceived : PointToPoint::kBuffer));
}

class Batching {
  public:
    Batching(Function &function, const Windows::Analyses &analyses, Remarks &remarks,
             bool says_missed)
        : function_(function), rules_(function, analyses.aliases),
          planning_(rules_, analyses.evolution, function.getParent()->getDataLayout(), remarks),
          windows_(function, rules_, analyses), hoisting_(function, rules_, analyses),
          remarks_(remarks), says_missed_(says_missed) {
        // Loops first: a batch of one round is not worth one of them all.
        for (const Loop *loop : analyses.loops.getLoopsInPreorder())
            if (loop->isInnermost())
                planning_.add(*loop);
        for (BasicBlock &block : function)
            planning_.add(block);
    }

    bool run() {
        SmallVector<Operation, 8> operations;
        for (Instruction &instruction : instructions(function_)) {
            const auto *call = dyn_cast<CallBase>(&instruction);
            const PointToPoint *what = call ? point_to_point(*call) : nullptr;
            const Operation operation = rules_.at(instruction);
            if (operation.call && !operation.refusal)
                operations.push_back(operation);
            else if (what || (call && (is_exchange(*call) || collective(*call))))
                missed(*call, operation.call ? operation.refusal
                              : what && what->synchronizes
                                  ? "it returns when its receiver has come"
                                  : "its error code is used, or it may throw");
        }
        hoisting_.find(operations);
        for (const Operation &operation : operations)
            not_hoisted(operation);
        choose(operations);
        if (operations.empty())
            return false;
        for (std::size_t i = 0; i < operations.size(); ++i)
            done(operations[i], i);
        // Only now: what is known of pointers is known of the program as it was.
        Rewriting rewriting(function_, *operations[0].call, windows_.compares() || hoisting_.any());
        windows_.apply(rewriting);
        hoisting_.apply(rewriting);
        for (const Operation &operation : operations)
            rewriting.start(operation);
        return true;
    }

  private:
    // Those that gain. What is left alone is a call like any other, so the rest may gain less.
    void choose(SmallVectorImpl<Operation> &operations) {
        for (bool changed = true; changed && !operations.empty();) {
            SmallVector<Operation, 8> kept;
            windows_.find(operations);
            for (std::size_t i = 0; i < operations.size(); ++i) {
                std::size_t others = 0;
                if (windows_.is_worth_it(i) || planning_.has(operations[i]) ||
                    hoisting_.has(operations[i]))
                    kept.push_back(operations[i]);
                else
                    missed(*operations[i].call,
                           "nothing is to be done before " + windows_.frontier(i, others));
            }
            changed = kept.size() < operations.size();
            operations.assign(kept.begin(), kept.end());
        }
    }

    void done(const Operation &operation, std::size_t number) {
        if (hoisting_.has(operation))
            remarks_.done("Hoisted", *operation.call,
                          title_of(*operation.call) + " is started before " +
                              hoisting_.crossed(operation));
        if (!windows_.crosses(number) && (planning_.has(operation) || hoisting_.has(operation)))
            return;
        std::size_t others = 0;
        std::string text = title_of(*operation.call) + " is waited for only before " +
                           windows_.frontier(number, others);
        if (others > 0)
            text += ", and at " + std::to_string(others) + " more";
        if (const unsigned line = windows_.asking_loop(number))
            text +=
                "; or before the loop in line " + std::to_string(line) + ", if it meets a buffer";
        remarks_.done("Window", *operation.call, text);
    }

    void not_hoisted(const Operation &operation) {
        const std::string reason = hoisting_.obstacle(operation);
        if (says_missed_ && !reason.empty())
            remarks_.missed("NotHoisted", *operation.call,
                            title_of(*operation.call) + " is not started before " + reason);
    }

    void missed(const CallBase &call, const Twine &reason) {
        if (says_missed_ && !planning_.refuses(call))
            remarks_.missed("NoWindow", call,
                            title_of(call) + " is waited for where it stands: " + reason);
    }

    Function &function_;
    Operations rules_;
    Planning planning_;
    Windows windows_;
    Hoisting hoisting_;
    Remarks &remarks_;
    bool says_missed_;
};

} // namespace

bool batch_calls(Function &function, const Windows::Analyses &analyses, Remarks &remarks,
                 bool says_missed) {
    return Batching(function, analyses, remarks, says_missed).run();
}

} // namespace sennit::pass
