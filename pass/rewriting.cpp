// SPDX-License-Identifier: Apache-2.0
#include "rewriting.h"

#include "library/batch.h"

#include "llvm/IR/Module.h"

#include <cstddef>

namespace sennit::pass {

using namespace llvm;

FunctionCallee hidden_function(Module &module, StringRef name, FunctionType *type) {
    FunctionCallee function = module.getOrInsertFunction(name, type);
    auto *declared = cast<Function>(function.getCallee());
    declared->setVisibility(GlobalValue::HiddenVisibility);
    declared->setDSOLocal(true);
    return function;
}

Rewriting::Rewriting(Function &function, const CallInst &first, bool compares)
    : module_(*function.getParent()), builder_(function.getContext()), compares_(compares) {
    BasicBlock &entry = function.getEntryBlock();
    builder_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    AllocaInst *memory =
        builder_.CreateAlloca(ArrayType::get(builder_.getInt8Ty(), sizeof(sennit_pass_batch)));
    memory->setAlignment(Align(alignof(sennit_pass_batch)));
    memory->setName("sennit.batch");
    batch_ = memory;
    const bool wide = has_wide_handles(first);
    const auto set = [&](std::size_t at, bool value) {
        builder_.CreateStore(builder_.getInt32(value),
                             builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), batch_, at));
    };
    set(offsetof(sennit_pass_batch, under_way), false);
    set(offsetof(sennit_pass_batch, statuses), false);
    set(offsetof(sennit_pass_batch, compares), compares);
    set(offsetof(sennit_pass_batch, wide), wide);
    set(offsetof(sennit_pass_batch, ranges), false);
    set(offsetof(sennit_pass_batch, coming), false);
    set(offsetof(sennit_pass_batch, taken), false);
}

void Rewriting::finish(Instruction &before) {
    builder_.SetInsertPoint(&before);
    call("sennit_pass_finish", {batch_}, before.getDebugLoc());
}

void Rewriting::ask(const Touch &touch) {
    builder_.SetInsertPoint(touch.instruction);
    Value *bytes = touch.bytes
                       ? builder_.CreateZExtOrTrunc(touch.bytes, builder_.getInt64Ty())
                       : builder_.getInt64(
                             module_.getDataLayout().getTypeStoreSize(touch.type).getFixedValue());
    call("sennit_pass_touch", {batch_, touch.memory, bytes, builder_.getInt32(touch.writes)},
         touch.instruction->getDebugLoc());
}

void Rewriting::add(SmallVectorImpl<Value *> &arguments, ArrayRef<Rounds> loops) {
    for (std::size_t i = 0; i < kMostLoops; ++i) {
        arguments.push_back(i < loops.size() ? loops[i].stride : builder_.getInt64(0));
        arguments.push_back(i < loops.size() ? loops[i].rounds : builder_.getInt64(0));
    }
}

void Rewriting::widen(Value *&memory, Value *&bytes, ArrayRef<Value *> certain) {
    if (Value *all = certain.empty() ? nullptr : builder_.CreateAnd(certain)) {
        memory = builder_.CreateSelect(all, memory, Constant::getNullValue(memory->getType()));
        bytes = builder_.CreateSelect(all, bytes, builder_.getInt64(INT64_MAX));
    }
}

void Rewriting::ask(Instruction &before, const Touch &touch, Value *memory, Value *bytes,
                    ArrayRef<Rounds> loops, ArrayRef<Value *> certain) {
    builder_.SetInsertPoint(&before);
    widen(memory, bytes, certain);
    SmallVector<Value *, 10> arguments = {batch_, memory, bytes, builder_.getInt32(touch.writes)};
    add(arguments, loops);
    call("sennit_pass_touch_rounds", arguments, touch.instruction->getDebugLoc());
}

Value *Rewriting::stays(Instruction &before, Value *first, std::int64_t least,
                        std::int64_t greatest, ArrayRef<Rounds> loops) {
    builder_.SetInsertPoint(&before);
    SmallVector<Value *, 9> arguments = {first,
                                         builder_.getInt64(static_cast<std::uint64_t>(least)),
                                         builder_.getInt64(static_cast<std::uint64_t>(greatest))};
    add(arguments, loops);
    CallInst *asked =
        call("sennit_pass_stays", arguments, before.getDebugLoc(), builder_.getInt32Ty());
    // The same for several accesses: asked once.
    asked->getCalledFunction()->setDoesNotAccessMemory();
    asked->getCalledFunction()->setDoesNotThrow();
    asked->getCalledFunction()->setWillReturn();
    return builder_.CreateIsNotNull(asked);
}

Value *Rewriting::as_long(Value *handle) {
    return handle->getType()->isPointerTy() ? builder_.CreatePtrToInt(handle, builder_.getInt64Ty())
                                            : builder_.CreateZExt(handle, builder_.getInt64Ty());
}

// First what memory is in use, if that is asked for, then the call.
void Rewriting::start_collective(const Collective &what, CallInst &from) {
    Value *communicator = as_long(from.getArgOperand(what.communicator()));
    const auto argument = [&](unsigned place) { return from.getArgOperand(place); };
    for (const Collective::Part &part : ArrayRef(what.parts, what.part_count)) {
        if (!compares_ || is_in_place(argument(part.memory)))
            continue;
        Value *type = as_long(argument(part.type));
        Value *root = part.only_at_root ? argument(static_cast<unsigned>(what.root))
                                        : builder_.getInt32(static_cast<std::uint32_t>(-1));
        Value *receives = builder_.getInt32(part.is_received);
        if (part.length == Collective::Part::each)
            call("sennit_pass_parts",
                 {batch_, argument(part.memory), argument(part.count), argument(part.places()),
                  type, root, receives, communicator},
                 from.getDebugLoc());
        else
            call("sennit_pass_part",
                 {batch_, argument(part.memory), argument(part.count), type,
                  builder_.getInt32(part.length == Collective::Part::by_rank), root, receives,
                  communicator},
                 from.getDebugLoc());
    }
    // The communicator is compared: its upper half counts, too.
    SmallVector<Value *, 10> arguments = {batch_};
    arguments.append(from.arg_begin(), from.arg_end());
    arguments.back() = communicator;
    SmallVector<Type *, 10> types;
    for (const Value *value : arguments)
        types.push_back(value->getType());
    const FunctionCallee function = library_function(
        module_, "start_", what, FunctionType::get(builder_.getVoidTy(), types, /*isVarArg=*/false),
        has_wide_handles(from));
    builder_.CreateCall(function, arguments)->setDebugLoc(from.getDebugLoc());
    from.eraseFromParent();
}

void Rewriting::start(const Operation &operation) {
    CallInst &from = *operation.call;
    builder_.SetInsertPoint(&from);
    if (operation.collective) {
        start_collective(*operation.collective, from);
        return;
    }
    const bool both = operation.is_exchange();
    const unsigned count = both ? Exchange::kStatus : PointToPoint::kStatus;
    SmallVector<Value *, 14> arguments = {batch_};
    for (unsigned i = 0; i < count; ++i) {
        Value *argument = from.getArgOperand(i);
        // A datatype behind each buffer and count, and last the communicator.
        const bool handle = i + 1 == count || i % Exchange::kReceived == PointToPoint::kDatatype;
        arguments.push_back(handle && !is_fortran(from) ? as_long(argument) : argument);
    }
    if (operation.receives)
        arguments.push_back(operation.status ? from.getArgOperand(count) : no_status(from));
    Value *started = started_.lookup(&from);
    if (started)
        arguments.insert(arguments.begin() + 1, started);
    const char *name = both                 ? "exchange"
                       : started            ? "receive_late"
                       : operation.receives ? "receive"
                                            : "send";
    call((Twine("sennit_pass_") + (is_fortran(from) ? "fortran_" : "") + name).str(), arguments,
         from.getDebugLoc());
    from.eraseFromParent();
}

Rewriting::Early::Early(Rewriting &rewriting, const Operation &operation, Instruction &place,
                        ArrayRef<Instruction *> operands, ArrayRef<Condition> conditions)
    : rewriting_(rewriting), call_(*operation.call), place_(place),
      may_(rewriting.builder_.getTrue()) {
    for (Instruction *operand : reverse(operands)) {
        Instruction *copy = operand->clone();
        copy->dropUnknownNonDebugMetadata(); // of accesses where it was
        copy->insertBefore(&place);
        RemapInstruction(copy, there_, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        there_[operand] = copy;
    }
    IRBuilder<> &builder = rewriting.builder_;
    builder.SetInsertPoint(&place);
    for (const auto &[value, holds] : conditions) {
        Value *copy = there_.lookup(value);
        Value *now = copy ? copy : value;
        may_ = builder.CreateLogicalAnd(may_, holds ? now : builder.CreateNot(now));
    }
    rewriting.skipped_[&call_] = builder.CreateNot(may_);
    for (unsigned i = 0; i < PointToPoint::kStatus; ++i)
        arguments_.push_back(argument(call_, i));
    arguments_.push_back(operation.status ? argument(call_, PointToPoint::kStatus)
                                          : no_status(call_));
}

Value *Rewriting::Early::argument(const CallInst &call, unsigned number) {
    Value *value = call.getArgOperand(number);
    if (Value *copy = there_.lookup(value))
        value = copy;
    const bool handle = number == PointToPoint::kDatatype || number == PointToPoint::kCommunicator;
    rewriting_.builder_.SetInsertPoint(&place_);
    return handle && !is_fortran(call_) ? rewriting_.as_long(value) : value;
}

void Rewriting::Early::ask(const Touch &touch, Value *memory, Value *bytes, ArrayRef<Rounds> loops,
                           ArrayRef<Value *> certain) {
    rewriting_.builder_.SetInsertPoint(&place_);
    rewriting_.widen(memory, bytes, certain);
    SmallVector<Value *, 8> other = {memory, bytes};
    rewriting_.add(other, loops);
    only_if("apart", other, touch.instruction->getDebugLoc());
}

void Rewriting::Early::ask(const CallInst &send) {
    SmallVector<Value *, 3> other;
    for (unsigned i = PointToPoint::kBuffer; i <= PointToPoint::kDatatype; ++i)
        other.push_back(argument(send, i));
    only_if("apart_from", other, send.getDebugLoc());
}

void Rewriting::Early::only_if(StringRef name, ArrayRef<Value *> other, const DebugLoc &where) {
    IRBuilder<> &builder = rewriting_.builder_;
    builder.SetInsertPoint(&place_);
    SmallVector<Value *, 12> arguments(arguments_.begin(),
                                       arguments_.begin() + PointToPoint::kDatatype + 1);
    arguments.append(other.begin(), other.end());
    Value *apart = rewriting_.call(full_name(name), arguments, where, builder.getInt32Ty());
    may_ = builder.CreateAnd(may_, builder.CreateIsNotNull(apart));
}

std::string Rewriting::Early::full_name(StringRef name) const {
    return (Twine("sennit_pass_") + (is_fortran(call_) ? "fortran_" : "") + name).str();
}

void Rewriting::Early::start(ArrayRef<const CallInst *> behind) {
    IRBuilder<> &builder = rewriting_.builder_;
    builder.SetInsertPoint(&place_);
    for (const CallInst *other : behind)
        may_ = builder.CreateLogicalAnd(
            may_, builder.CreateOr(builder.CreateIsNotNull(rewriting_.started_.lookup(other)),
                                   rewriting_.skipped_.lookup(other)));
    SmallVector<Value *, 10> arguments = {rewriting_.batch_,
                                          builder.CreateZExt(may_, builder.getInt32Ty())};
    arguments.append(arguments_);
    rewriting_.started_[&call_] = rewriting_.call(full_name("receive_early"), arguments,
                                                  call_.getDebugLoc(), builder.getInt32Ty());
}

CallInst *Rewriting::call(StringRef name, ArrayRef<Value *> arguments, const DebugLoc &where,
                          Type *result) {
    SmallVector<Type *, 8> types;
    for (const Value *argument : arguments)
        types.push_back(argument->getType());
    FunctionCallee function = hidden_function(
        module_, name,
        FunctionType::get(result ? result : builder_.getVoidTy(), types, /*isVarArg=*/false));
    CallInst *made = builder_.CreateCall(function, arguments);
    made->setDebugLoc(where);
    return made;
}

} // namespace sennit::pass
