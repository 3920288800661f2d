// SPDX-License-Identifier: Apache-2.0
#include "tail_binding.h"

#include "buffers.h"
#include "collectives.h"
#include "mpi_calls.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <string>

namespace sennit::pass {
namespace {

using namespace llvm;

// A call that could be bound.
struct Candidate {
    CallBase *call = nullptr; // null: there is none
    const char *name = nullptr;
    const char *slot = nullptr;
    bool receives = false;
    bool synchronizes = false;
    CallBase *operation = nullptr; // one that has a buffer: the call itself, or what it waits for
    struct Buffer {
        const Value *memory;
        bool is_written;
    };
    SmallVector<Buffer, 2> buffers; // of all operations
    std::optional<unsigned> status_place;
    const Collective *collective = nullptr;

    Value *status() const { return status_place ? call->getArgOperand(*status_place) : nullptr; }
};

// Those that a wait is for, where `requests` is a variable that only they have.
bool add_operations_of(const CallBase &wait, Value &requests, Candidate &candidate) {
    return all_of(requests.users(), [&](User *user) {
        if (isa<GetElementPtrInst>(user))
            return add_operations_of(wait, *user, candidate);
        auto *call = dyn_cast<CallBase>(user);
        if (call == &wait || (call && call->isLifetimeStartOrEnd()))
            return true;
        const PointToPoint *what = call ? wait_for_operation(*call) : nullptr;
        if (!what || call->getArgOperand(6) != &requests)
            return false;
        candidate.operation = call;
        candidate.buffers.push_back({call->getArgOperand(PointToPoint::kBuffer), what->receives});
        candidate.receives |= what->receives;
        return true;
    });
}

Candidate candidate_of(CallBase &call) {
    if (const PointToPoint *what = point_to_point(call)) {
        Candidate found = {&call,
                           what->name,
                           what->slot,
                           what->receives,
                           what->synchronizes,
                           &call,
                           {{call.getArgOperand(PointToPoint::kBuffer), what->receives}},
                           std::nullopt};
        if (what->receives)
            found.status_place = PointToPoint::kStatus;
        return found;
    }
    if (is_exchange(call))
        return {&call,
                "MPI_Sendrecv",
                "sennit_pass_Isendrecv",
                true,
                false,
                &call,
                {{call.getArgOperand(Exchange::kReceived), true},
                 {call.getArgOperand(Exchange::kSent), false}},
                Exchange::kStatus};
    if (const Collective *what = collective(call)) {
        Candidate found = {&call, what->name, nullptr, true, false, &call, {}, std::nullopt, what};
        for (const Buffer &buffer : buffers_of(*what, call))
            found.buffers.push_back({buffer.memory, buffer.is_written});
        return found;
    }
    const bool for_all = is_wait_for_all(call);
    if (!for_all && !is_wait(call))
        return {};
    Value *requests = call.getArgOperand(for_all ? 1 : 0);
    auto *variable = dyn_cast<AllocaInst>(for_all ? getUnderlyingObject(requests) : requests);
    Candidate found = {&call, "MPI_Wait", "sennit_pass_Iwait", false, false, nullptr, {}, 1};
    if (for_all) {
        found.name = "MPI_Waitall";
        found.slot = "sennit_pass_Iwaitall";
        found.status_place = 2;
    }
    if (!variable || !add_operations_of(call, *variable, found) || found.buffers.empty() ||
        (!for_all && (variable->isArrayAllocation() || found.buffers.size() > 1)))
        return {};
    return found;
}

class TailBinding {
  public:
    TailBinding(Function &entry, Aliases &aliases) : buffers_(entry, aliases) {}

    // Empty: it can be bound. Else what prevents it.
    std::string obstacle(const Candidate &candidate) {
        if (!candidate.call->use_empty())
            return is_fortran(*candidate.call) &&
                           all_of(candidate.call->users(),
                                  [](const User *user) { return isa<StoreInst>(user); })
                       ? "its error code is not private"
                       : "its error code is used";
        if (const char *reason = candidate.collective
                                     ? pass::obstacle(*candidate.collective, *candidate.call)
                                     : nullptr)
            return reason;
        for (const Candidate::Buffer &buffer : candidate.buffers)
            if (std::string reason = buffers_.ends_with_body(buffer.memory); !reason.empty())
                return reason;
        if (candidate.status_place && !ignores_status(candidate.status()) &&
            !buffers_.own_variable(candidate.status()))
            return "its status is kept";
        return obstacle_behind(candidate);
    }

  private:
    std::string obstacle_behind(const Candidate &candidate) {
        SmallVector<const Instruction *, 16> starts; // of paths
        SmallPtrSet<const BasicBlock *, 16> seen;
        const auto enter = [&](const BasicBlock *next) {
            if (seen.insert(next).second)
                starts.push_back(&next->front());
        };
        if (const auto *invoke = dyn_cast<InvokeInst>(candidate.call))
            enter(invoke->getNormalDest()); // C's functions throw nothing
        else
            starts.push_back(&*std::next(candidate.call->getIterator()));
        while (!starts.empty()) {
            const Instruction *at = starts.pop_back_val();
            const BasicBlock *block = at->getParent();
            for (const Instruction &next : make_range(at->getIterator(), block->end()))
                if (std::string reason = crossing(candidate, next); !reason.empty())
                    return reason;
            for (const BasicBlock *next : successors(block))
                enter(next);
        }
        return "";
    }

    // What speaks against `instruction` while the message of `candidate` is under way.
    std::string crossing(const Candidate &candidate, const Instruction &instruction) {
        if (instruction.isVolatile() || instruction.isAtomic())
            return "it is followed by " + described(instruction, true);
        if (const auto *load = dyn_cast<LoadInst>(&instruction))
            return access(candidate, *load, load->getPointerOperand(), false);
        if (const auto *store = dyn_cast<StoreInst>(&instruction))
            return access(candidate, *store, store->getPointerOperand(), true);
        if (const auto *call = dyn_cast<CallBase>(&instruction))
            return crossing_call(candidate, *call);
        if (isa<ResumeInst>(instruction))
            return "it is followed by code for an exception";
        if (instruction.mayReadOrWriteMemory())
            return "it is followed by " + described(instruction, true);
        return "";
    }

    std::string access(const Candidate &candidate, const Instruction &instruction,
                       const Value *pointer, bool writes) {
        if (candidate.status_place && in_status(candidate, pointer))
            return "its status is used by " + described(instruction, true);
        for (const Candidate::Buffer &buffer : candidate.buffers)
            if ((writes || buffer.is_written) && !buffers_.disjoint(pointer, buffer.memory))
                return "its buffer may be touched by " + described(instruction, true);
        return "";
    }

    bool in_status(const Candidate &candidate, const Value *pointer) {
        const AllocaInst *variable = buffers_.own_variable(candidate.status());
        return variable && buffers_.own_variable(pointer) == variable;
    }

    std::string crossing_call(const Candidate &candidate, const CallBase &call) {
        if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd() || isa<AssumeInst>(call) ||
            isa<NoAliasScopeDeclInst>(call) || call.doesNotAccessMemory())
            return call.mayThrow() ? "it is followed by " + described(call) : "";
        const PointToPoint *other = point_to_point(call);
        if (!other)
            other = bound_point_to_point(call);
        if (!other)
            return "it is followed by " + described(call);
        if (candidate.synchronizes || other->synchronizes)
            return "a synchronous send is not crossed: it is followed by " + described(call);
        if (candidate.receives)
            return "its arrival may be what allows " + described(call);
        if (!other->receives)
            return "";
        const Value *received = call.getArgOperand(PointToPoint::kBuffer);
        for (const Candidate::Buffer &buffer : candidate.buffers)
            if (!buffers_.disjoint(received, buffer.memory))
                return "its buffer may overlap that of " + described(call);
        return "";
    }

    Buffers buffers_;
};

void bind(const Candidate &candidate) {
    CallBase &call = *candidate.call;
    Module &module = *call.getModule();
    if (candidate.collective) {
        call.setCalledFunction(library_function(module, "bound_", *candidate.collective,
                                                call.getFunctionType(), has_wide_handles(call)));
        return;
    }
    IRBuilder<> builder(&call);
    const auto hidden = [](auto *value) {
        value->setVisibility(GlobalValue::HiddenVisibility);
        value->setDSOLocal(true);
        return value;
    };
    if (candidate.status_place && (!ignores_status(candidate.status()) || is_fortran(call)))
        call.setArgOperand(*candidate.status_place, no_status(*candidate.operation));
    if (is_fortran(call)) { // library/fortran.h
        const std::string name =
            ("sennit_pass_fortran_" + StringRef(candidate.slot).drop_front(strlen("sennit_pass_")))
                .str();
        call.setCalledFunction(hidden(
            cast<Function>(module.getOrInsertFunction(name, call.getFunctionType()).getCallee())));
        return;
    }
    auto *slot =
        hidden(cast<GlobalVariable>(module.getOrInsertGlobal(candidate.slot, builder.getPtrTy())));
    call.setCalledOperand(builder.CreateLoad(builder.getPtrTy(), slot));
}

} // namespace

bool bind_tail_calls(Function &entry, Aliases &aliases, Remarks &remarks) {
    SmallVector<Candidate, 4> candidates;
    for (Instruction &instruction : instructions(entry))
        if (auto *call = dyn_cast<CallBase>(&instruction))
            if (const Candidate candidate = candidate_of(*call); candidate.call)
                candidates.push_back(candidate);
    TailBinding binding(entry, aliases);
    SmallVector<Candidate, 4> bound;
    for (const Candidate &candidate : candidates) {
        const std::string reason = binding.obstacle(candidate);
        const std::string name =
            title(candidate.name, candidate.collective
                                      ? received_buffer(*candidate.collective, *candidate.call)
                                      : candidate.buffers[0].memory);
        if (candidate.receives && !candidate.collective)
            Remarks::warn(
                "StockHang", *candidate.call,
                Twine("this receive inside a task can hang under a stock OpenMP runtime") +
                    (candidate.call->getDebugLoc() ? "" : " (-g shows where it is)"));
        if (reason.empty()) {
            bound.push_back(candidate);
            remarks.done("Bound", *candidate.call,
                         name + " is bound to its task, which ends without waiting for it");
            continue;
        }
        remarks.missed("NotBound", *candidate.call, Twine(name) + " suspends its task: " + reason);
    }
    for (const Candidate &candidate : bound)
        bind(candidate);
    return !bound.empty();
}

} // namespace sennit::pass
