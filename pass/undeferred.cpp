// SPDX-License-Identifier: Apache-2.0
#include "undeferred.h"

#include "buffers.h"
#include "library/detached.h"
#include "mpi_calls.h"
#include "rewriting.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <cstddef>
#include <optional>
#include <string>

namespace sennit::pass {

using namespace llvm;

namespace {

cl::opt<bool> g_detaches("sennit-detach",
                         cl::desc("Sennit: the program is right without the if clauses of tasks "
                                  "that only exchange messages"));

// A call of an OpenMP runtime's. Null: `instruction` is something else.
CallInst *runtime_call(Instruction *instruction, StringRef name) {
    auto *call = dyn_cast_or_null<CallInst>(instruction);
    const Function *called = call ? call->getCalledFunction() : nullptr;
    return called && called->getName() == name ? call : nullptr;
}

// One in the code of its creator:
//
//     __kmpc_omp_wait_deps(where, thread, count, dependences, 0, null)
//     __kmpc_omp_task_begin_if0(where, thread, task)
//     entry(thread, task)
//     __kmpc_omp_task_complete_if0(where, thread, task)
struct Undeferred {
    CallInst *wait = nullptr; // null: it has no dependences
    CallInst *begin = nullptr;
    CallInst *entry = nullptr;
    CallInst *end = nullptr;

    Function &body() const { return *entry->getCalledFunction(); }
    // Not of the body's call: what the body does not use is not handed over.
    Value *thread() const { return begin->getArgOperand(1); }
    Value *task() const { return begin->getArgOperand(2); }
};

Instruction *before(const Instruction &instruction) {
    return const_cast<Instruction *>(instruction.getPrevNonDebugInstruction());
}

std::optional<Undeferred> undeferred_at(Instruction &instruction, const TaskEntries &entries) {
    auto *call = dyn_cast<CallInst>(&instruction);
    Function *body = call ? call->getCalledFunction() : nullptr;
    Undeferred found = {.entry = call};
    if (!body || !entries.contains(body) || !task_memory(*body))
        return std::nullopt;
    found.begin = runtime_call(before(*call), "__kmpc_omp_task_begin_if0");
    found.end = runtime_call(call->getNextNonDebugInstruction(), "__kmpc_omp_task_complete_if0");
    if (!found.begin || !found.end)
        return std::nullopt;
    for (const char *name : {"__kmpc_omp_wait_deps", "__kmpc_omp_taskwait_deps_51"})
        if (CallInst *wait = runtime_call(before(*found.begin), name);
            wait && match(wait->getArgOperand(4), PatternMatch::m_Zero())) // no second list
            found.wait = wait;
    return found;
}

bool exchanges(const Function &function, SmallPtrSetImpl<const Function *> &seen) {
    return seen.insert(&function).second && any_of(instructions(function), [&](const auto &one) {
               const auto *call = dyn_cast<CallBase>(&one);
               const Function *called = call ? call->getCalledFunction() : nullptr;
               return calls_mpi(one) || (called && exchanges(*called, seen));
           });
}

// Of one message: places of arguments.
struct Message {
    CallBase *call;
    unsigned buffer, peer, tag, communicator;
    bool receives;

    Value *operator[](unsigned place) const { return call->getArgOperand(place); }
};

// What a task does, if that is nothing but exchange messages by calls that are bound to it.
struct Exchanges {
    SmallVector<Message, 4> messages;
    std::string obstacle; // empty: there is none
};

void add(Exchanges &found, CallBase &call) {
    using One = PointToPoint;
    if (const PointToPoint *what = bound_point_to_point(call)) {
        found.messages.push_back(
            {&call, One::kBuffer, One::kPeer, One::kTag, One::kCommunicator, what->receives});
    } else if (is_bound(call) && call.arg_size() == Exchange::kArguments) {
        found.messages.push_back({&call, Exchange::kSent, Exchange::kTo, Exchange::kSentTag,
                                  Exchange::kCommunicator, false});
        found.messages.push_back({&call, Exchange::kReceived, Exchange::kFrom,
                                  Exchange::kReceivedTag, Exchange::kCommunicator, true});
    } else if (found.obstacle.empty()) {
        found.obstacle = "the task has " + described(call);
    }
}

Exchanges exchanges_of(Function &body) {
    Exchanges found;
    for (Instruction &instruction : instructions(body)) {
        auto *call = dyn_cast<CallBase>(&instruction);
        if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd() ||
            isa<AssumeInst>(instruction) || isa<NoAliasScopeDeclInst>(instruction))
            continue;
        if (call && !call->doesNotAccessMemory())
            add(found, *call);
        else if (found.obstacle.empty() &&
                 (instruction.mayWriteToMemory() || instruction.isVolatile()))
            found.obstacle = "the task has " + described(instruction, true);
    }
    return found;
}

// The values that a task's body computes, computed by its creator.
class Copies {
  public:
    Copies(const Undeferred &task, IRBuilder<> &builder) : builder_(builder) {
        there_[task.body().getArg(0)] = task.thread();
        there_[task.body().getArg(1)] = task.task();
    }

    // May it be, whichever way the body goes? `is_there`: may this be read before the task begins?
    static bool are_possible(const Value *value,
                             function_ref<bool(const LoadInst &load)> is_there) {
        const auto *instruction = dyn_cast<Instruction>(value);
        if (!instruction)
            return true;
        if (const auto *load = dyn_cast<LoadInst>(instruction); load && !is_there(*load))
            return false;
        const bool always = instruction->getParent()->isEntryBlock();
        if (isa<PHINode, CallBase, AllocaInst>(instruction) ||
            !(always || isSafeToSpeculativelyExecute(instruction)))
            return false;
        return all_of(instruction->operands(),
                      [&](const Value *operand) { return are_possible(operand, is_there); });
    }

    Value *of(Value *value) {
        auto *instruction = dyn_cast<Instruction>(value);
        if (Value *known = there_.lookup(value); known || !instruction)
            return known ? known : value;
        Instruction *copy = instruction->clone();
        for (Use &operand : copy->operands())
            operand.set(of(operand));
        copy->dropUnknownNonDebugMetadata(); // of accesses where it was
        copy->setDebugLoc(builder_.getCurrentDebugLocation());
        builder_.Insert(copy);
        return there_[value] = copy;
    }

  private:
    IRBuilder<> &builder_;
    ValueToValueMapTy there_;
};

class Detaching {
  public:
    Detaching(Function &creator, Touches &touches, const LoopInfo &loops, Remarks &remarks)
        : creator_(creator), touches_(touches), loops_(loops), remarks_(remarks),
          builder_(creator.getContext()) {}

    void add(const Undeferred &task) {
        const Exchanges found = exchanges_of(task.body());
        const std::string reason = obstacle(task, found);
        if (reason.empty()) {
            tasks_.push_back({task, found});
            return;
        }
        SmallPtrSet<const Function *, 8> seen;
        if (!exchanges(task.body(), seen))
            return;
        for (const Message &message : found.messages)
            remarks_.missed("NotDetached", *message.call,
                            title(message) + " holds up the creator of its task: " + reason);
        if (found.messages.empty())
            remarks_.missed("NotDetached", *task.begin,
                            "this task holds up its creator: " + reason);
        others_.push_back(task.wait ? task.wait : task.begin);
    }

    bool run() {
        for (const auto &[task, found] : tasks_)
            take_envelopes(task, found);
        stores_.clear();
        for (const auto &[task, found] : tasks_) {
            const Instruction *touch = find_touches(task, found);
            for (const Message &message : found.messages)
                remarks_.done("Detached", *message.call,
                              title(message) + " does not hold up the creator of its task" +
                                  (touch ? " before " + described(*touch, true) : ""));
        }
        for (Instruction *other : others_)
            wait_before(*other);
        // Only now: what is known of loops is known of the program as it was.
        for (Instruction *place : places_)
            settle(*place);
        for (const auto &[task, found] : tasks_)
            detach(task, found);
        return !tasks_.empty() || !places_.empty();
    }

  private:
    static std::string title(const Message &message) {
        const PointToPoint *what = bound_point_to_point(*message.call);
        return pass::title(what ? what->name : "MPI_Sendrecv", message[message.buffer]);
    }

    std::string obstacle(const Undeferred &task, const Exchanges &found) const {
        if (!found.obstacle.empty())
            return found.obstacle;
        if (found.messages.empty())
            return "it exchanges no messages";
        if (!task.wait)
            return "the task has no dependences";
        const auto objects = objects_of(task, found);
        const auto is_there = [&](const LoadInst &load) {
            return is_there_before(task, objects, load);
        };
        for (const Message &message : found.messages)
            for (const unsigned place : {message.peer, message.tag, message.communicator})
                if (!Copies::are_possible(message[place], is_there))
                    return "its peer, tag or communicator is not known before the task begins";
        return "";
    }

    // ---- what the creator does behind it

    using BaseAndOffset = std::pair<const Value *, std::int64_t>;
    BaseAndOffset place_of(const Value &pointer) const {
        std::int64_t distance = 0;
        const Value *base =
            GetPointerBaseWithConstantOffset(&pointer, distance, creator_.getDataLayout());
        return {base, distance};
    }

    // The creator's.
    struct Stored {
        const StoreInst *store;
        BaseAndOffset place;
    };
    ArrayRef<Stored> stores() const {
        if (stores_.empty())
            for (const Instruction &instruction : instructions(creator_))
                if (const auto *store = dyn_cast<StoreInst>(&instruction))
                    stores_.push_back({store, place_of(*store->getPointerOperand())});
        return stores_;
    }

    // Where the addresses of shared variables are: the first word of the task's memory leads there.
    bool leads_to_shared(const Value *pointer, const Value *task) const {
        const auto *load = dyn_cast<LoadInst>(pointer);
        return load && place_of(*load->getPointerOperand()) == BaseAndOffset(task, 0);
    }

    // What the body's pointer is based on, in the creator's code: a private copy that the creator
    // has made, or the variable whose address it has given. Null: it is not known.
    const Value *known_here(const Undeferred &task, const Value &pointer) const {
        const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
        const auto *load = dyn_cast<LoadInst>(object);
        if (!load)
            return isa<GlobalValue>(object) ? object : nullptr;
        const auto [base, distance] = place_of(*load->getPointerOperand());
        const Value *memory = task_memory(task.body());
        const bool is_shared = leads_to_shared(base, memory);
        if (base != memory && !is_shared)
            return nullptr;
        for (const Stored &one : stores())
            if (one.place.second == distance &&
                (is_shared ? leads_to_shared(one.place.first, task.task())
                           : one.place.first == task.task()))
                return one.store->getValueOperand();
        return nullptr;
    }

    // The task's dependences are not released when it is made, and what other tasks write may come
    // with them. So what is read then is the task's own memory, which its creator has filled, or a
    // variable that is none of its dependences; nothing behind another pointer.
    bool is_there_before(const Undeferred &task, ArrayRef<const Value *> objects,
                         const LoadInst &load) const {
        const Value *memory = getUnderlyingObject(load.getPointerOperand(), /*MaxLookup=*/0);
        const Value *own = task_memory(task.body());
        if (memory == own || leads_to_shared(place_of(*load.getPointerOperand()).first, own))
            return true;
        const Value *variable = known_here(task, *load.getPointerOperand());
        return variable && none_of(objects, [&](const Value *one) {
                   return Buffers::of_one_object(variable, one);
               });
    }

    // All that its end has told the creator to be over: with its buffers, and what it depends on.
    SmallVector<const Value *, 8> objects_of(const Undeferred &task, const Exchanges &found) const {
        SmallVector<const Value *, 8> objects;
        for (const Message &message : found.messages)
            if (const Value *buffer = known_here(task, *message[message.buffer]))
                objects.push_back(buffer);
        const Value *dependences = getUnderlyingObject(task.wait->getArgOperand(3), 0);
        for (const Stored &one : stores())
            if (const auto *address = dyn_cast<PtrToIntOperator>(one.store->getValueOperand());
                address && one.place.first == dependences)
                objects.push_back(address->getPointerOperand());
        return objects;
    }

    // What a message's peer, tag and communicator are read from: integers in variables of others.
    void add_reads(const Value *value, SmallSetVector<LoadInst *, 4> &reads) const {
        const auto *instruction = dyn_cast<Instruction>(value);
        if (!instruction)
            return;
        const auto *load = dyn_cast<LoadInst>(instruction);
        if (load && load->isSimple() && load->getType()->isIntegerTy(32))
            reads.insert(const_cast<LoadInst *>(load));
        else if (!load)
            for (const Value *operand : instruction->operands())
                add_reads(operand, reads);
    }

    // They are known when the task is made (obstacle). So they are copied into the task, and their
    // variables may change behind it. Where the task is not deferred they are read again when its
    // dependences are fulfilled. A body that several places make tasks of is left as it is.
    void take_envelopes(const Undeferred &task, const Exchanges &found) {
        constexpr unsigned kBytes = 3; // the argument of __kmpc_omp_task_alloc
        auto *made = runtime_call(dyn_cast<Instruction>(task.task()), "__kmpc_omp_task_alloc");
        const auto *bytes = made ? dyn_cast<ConstantInt>(made->getArgOperand(kBytes)) : nullptr;
        if (!bytes || !task.body().hasNUses(2))
            return;
        Value *memory = task_memory(task.body());
        SmallSetVector<LoadInst *, 4> reads;
        for (const Message &message : found.messages)
            for (const unsigned place : {message.peer, message.tag, message.communicator})
                add_reads(message[place], reads);
        reads.remove_if([&](const LoadInst *load) {
            return place_of(*load->getPointerOperand()).first == memory;
        });
        constexpr std::uint64_t kSlot = 8;
        const std::uint64_t first = alignTo(bytes->getZExtValue(), kSlot);
        for (Instruction *place : {task.wait, task.begin}) {
            builder_.SetInsertPoint(place);
            Copies copies(task, builder_);
            std::uint64_t at = first;
            for (LoadInst *load : reads) {
                Value *copy = copies.of(load);
                builder_.CreateStore(copy, slot(task.task(), at));
                at += kSlot;
            }
        }
        std::uint64_t at = first;
        for (LoadInst *load : reads) {
            Value *pointer = load->getPointerOperand();
            builder_.SetInsertPoint(load);
            load->replaceAllUsesWith(builder_.CreateLoad(load->getType(), slot(memory, at)));
            load->eraseFromParent();
            RecursivelyDeleteTriviallyDeadInstructions(pointer);
            at += kSlot;
        }
        made->setArgOperand(kBytes, builder_.getInt64(at));
        touches_.forget(task.body());
    }

    Value *slot(Value *task, std::uint64_t at) {
        return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), task, at);
    }

    // Variables that the body reads.
    SmallVector<const Value *, 8> variables_of(const Undeferred &task) const {
        SmallVector<const Value *, 8> variables;
        for (const Instruction &instruction : instructions(task.body()))
            if (const auto *load = dyn_cast<LoadInst>(&instruction))
                if (const Value *variable = known_here(task, *load->getPointerOperand()))
                    variables.push_back(variable);
        return variables;
    }

    // All that may come behind the task and must not come before its messages, as far as that is
    // known. The first of it; null: nothing.
    const Instruction *find_touches(const Undeferred &task, const Exchanges &found) {
        const Instruction *first = nullptr;
        SmallVector<Instruction *, 16> starts = {task.end->getNextNode()};
        SmallPtrSet<BasicBlock *, 16> seen;
        const Guarded guarded(objects_of(task, found), variables_of(task));
        while (!starts.empty()) {
            Instruction *at = starts.pop_back_val();
            for (const Touches::One &next : touches_.of(*at->getParent())) {
                if (next.instruction->comesBefore(at) || !touches_.is_touched(next, guarded))
                    continue;
                first = first ? first : next.instruction;
                wait_before(*next.instruction);
            }
            for (BasicBlock *next : successors(at->getParent()))
                if (seen.insert(next).second)
                    starts.push_back(&next->front());
        }
        return first;
    }

    // Where it stands, or before the loops around it in which no such task is made.
    void wait_before(Instruction &touch) {
        Instruction *place = &touch;
        // Between such a call and the return nothing may stand.
        if (CallInst *last = touch.getParent()->getTerminatingMustTailCall();
            last && last->comesBefore(&touch))
            place = last;
        for (const Loop *loop = loops_.getLoopFor(touch.getParent());
             loop && loop->getLoopPreheader() &&
             none_of(tasks_, [&](const auto &other) { return loop->contains(other.first.entry); });
             loop = loop->getParentLoop())
            place = loop->getLoopPreheader()->getTerminator();
        places_.insert(place);
    }

    // ---- the code

    void settle(Instruction &before) {
        builder_.SetInsertPoint(&before);
        builder_
            .CreateCall(hidden_function(*creator_.getParent(), "sennit_pass_settle",
                                        FunctionType::get(builder_.getVoidTy(), false)))
            ->setDebugLoc(before.getDebugLoc());
    }

    // The body is what it was, for where the task is not deferred.
    void detach(const Undeferred &task, const Exchanges &found) {
        AllocaInst *envelopes = write_envelopes(task, found);
        builder_.SetInsertPoint(task.wait);
        const SmallVector<Value *, 7> arguments = {
            task.wait->getArgOperand(0),
            task.wait->getArgOperand(1),
            task.task(),
            task.wait->getArgOperand(2),
            task.wait->getArgOperand(3),
            builder_.getInt32(static_cast<std::uint32_t>(found.messages.size())),
            envelopes};
        SmallVector<Type *, 7> types;
        for (const Value *argument : arguments)
            types.push_back(argument->getType());
        CallInst *detached = builder_.CreateCall(
            hidden_function(*creator_.getParent(), "sennit_pass_detach",
                            FunctionType::get(builder_.getInt32Ty(), types, false)),
            arguments);
        detached->setDebugLoc(task.wait->getDebugLoc());
        Value *undeferred = builder_.CreateIsNull(detached);
        BasicBlock *here = task.wait->getParent();
        BasicBlock *behind = here->splitBasicBlock(task.end->getNextNode(), "sennit.behind");
        BasicBlock *now = here->splitBasicBlock(task.wait, "sennit.now");
        here->getTerminator()->eraseFromParent();
        builder_.SetInsertPoint(here);
        builder_.CreateCondBr(undeferred, now, behind);
    }

    AllocaInst *write_envelopes(const Undeferred &task, const Exchanges &found) {
        BasicBlock &entry = creator_.getEntryBlock();
        builder_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
        AllocaInst *memory = builder_.CreateAlloca(ArrayType::get(
            builder_.getInt8Ty(), sizeof(sennit_pass_envelope) * found.messages.size()));
        memory->setAlignment(Align(alignof(sennit_pass_envelope)));
        builder_.SetInsertPoint(task.wait);
        Copies copies(task, builder_);
        std::size_t at = 0;
        const auto write = [&](std::size_t member, Value *value) {
            builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(),
                                                                            memory, at + member));
        };
        for (const Message &message : found.messages) {
            Value *communicator = copies.of(message[message.communicator]);
            write(offsetof(sennit_pass_envelope, communicator),
                  communicator->getType()->isPointerTy()
                      ? builder_.CreatePtrToInt(communicator, builder_.getInt64Ty())
                      : builder_.CreateZExt(communicator, builder_.getInt64Ty()));
            write(offsetof(sennit_pass_envelope, peer), copies.of(message[message.peer]));
            write(offsetof(sennit_pass_envelope, tag), copies.of(message[message.tag]));
            write(offsetof(sennit_pass_envelope, receives), builder_.getInt32(message.receives));
            at += sizeof(sennit_pass_envelope);
        }
        return memory;
    }

    Function &creator_;
    Touches &touches_;
    const LoopInfo &loops_;
    Remarks &remarks_;
    IRBuilder<> builder_;
    mutable SmallVector<Stored, 0> stores_; // empty: not looked for yet
    SmallVector<std::pair<Undeferred, Exchanges>, 4> tasks_;
    SmallVector<Instruction *, 4> others_;    // tasks with messages that are left as they are
    SmallSetVector<Instruction *, 4> places_; // before which the creator waits for all of them
};

} // namespace

bool detaches_undeferred() {
    return g_detaches;
}

void keep_undeferred_tasks(const TaskEntries &entries) {
    for (Function *entry : entries) {
        SmallPtrSet<const Function *, 8> seen;
        const bool is_called = any_of(entry->users(), [&](User *user) {
            auto *call = dyn_cast<CallInst>(user);
            return call && undeferred_at(*call, entries);
        });
        if (is_called && exchanges(*entry, seen))
            entry->addFnAttr(Attribute::NoInline);
    }
}

bool detach_undeferred_tasks(Function &creator, const TaskEntries &entries, Touches &touches,
                             const LoopInfo &loops, Remarks &remarks) {
    Detaching detaching(creator, touches, loops, remarks);
    for (Instruction &instruction : instructions(creator))
        if (const auto task = undeferred_at(instruction, entries))
            detaching.add(*task);
    return detaching.run();
}

} // namespace sennit::pass
