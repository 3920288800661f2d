// SPDX-License-Identifier: Apache-2.0
#include "collectives.h"

#include "rewriting.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/CommandLine.h"

namespace sennit::pass {

using namespace llvm;

namespace {

cl::opt<bool> g_moves("sennit-collectives",
                      cl::desc("Sennit: the whole program's collective calls do not block"));

using Part = Collective::Part;

// Of MPI_Gather and its like: (sent, count, type, received, count, type, ...).
constexpr Part sent(Part::Length length, bool at_root = false) {
    return length == Part::each ? Part{0, 1, 3, length, false, at_root}
                                : Part{0, 1, 2, length, false, at_root};
}
constexpr Part received(unsigned at, Part::Length length, bool at_root = false) {
    return {at, at + 1, at + (length == Part::each ? 3U : 2U), length, true, at_root};
}

// Name, arguments, shape, places of the operation and of the root, parts.
constexpr Collective kCollectives[] = {
    {"MPI_Barrier", 1, Collective::all, -1, -1, 0, {}},
    // The root's is sent. Who that is is not known here.
    {"MPI_Bcast", 5, Collective::from_root, -1, 3, 1, {{0, 1, 2, Part::once, true, false}}},
    {"MPI_Reduce",
     7,
     Collective::to_root,
     4,
     5,
     2,
     {{0, 2, 3, Part::once, false, false}, {1, 2, 3, Part::once, true, true}}},
    {"MPI_Allreduce",
     6,
     Collective::all,
     4,
     -1,
     2,
     {{0, 2, 3, Part::once, false, false}, {1, 2, 3, Part::once, true, false}}},
    {"MPI_Gather",
     8,
     Collective::to_root,
     -1,
     6,
     2,
     {sent(Part::once), received(3, Part::by_rank, true)}},
    {"MPI_Gatherv",
     9,
     Collective::to_root,
     -1,
     7,
     2,
     {sent(Part::once), received(3, Part::each, true)}},
    {"MPI_Scatter",
     8,
     Collective::from_root,
     -1,
     6,
     2,
     {sent(Part::by_rank, true), received(3, Part::once)}},
    {"MPI_Scatterv",
     9,
     Collective::from_root,
     -1,
     7,
     2,
     {sent(Part::each, true), received(4, Part::once)}},
    {"MPI_Allgather",
     7,
     Collective::all,
     -1,
     -1,
     2,
     {sent(Part::once), received(3, Part::by_rank)}},
    {"MPI_Allgatherv", 8, Collective::all, -1, -1, 2, {sent(Part::once), received(3, Part::each)}},
    {"MPI_Alltoall",
     7,
     Collective::all,
     -1,
     -1,
     2,
     {sent(Part::by_rank), received(3, Part::by_rank)}},
    {"MPI_Alltoallv", 9, Collective::all, -1, -1, 2, {sent(Part::each), received(4, Part::each)}},
};

// A declaration of MPI's. Null: it is something else.
const Collective *collective_of(const Function &function) {
    for (const Collective &one : kCollectives)
        if (function.isDeclaration() && function.getName() == one.name &&
            function.arg_size() == one.arguments)
            return &one;
    return nullptr;
}

// A constant that a header has: MPICH's integers, Open MPI's variables, the standard ABI's small
// addresses.
bool is_predefined(const Value *handle) {
    return isa<Constant>(handle);
}

SmallVector<const Value *, 4> objects_of(const Value *pointer) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    return objects;
}

// Says the library what a handle is: an address, else an integer.
void note_handles(Module &module, bool wide) {
    constexpr char kName[] = "sennit_pass_wide";
    if (module.getNamedGlobal(kName))
        return;
    Type *type = Type::getInt32Ty(module.getContext());
    auto *note = cast<GlobalVariable>(module.getOrInsertGlobal(kName, type));
    note->setConstant(true);
    note->setLinkage(GlobalValue::WeakAnyLinkage);
    note->setInitializer(ConstantInt::get(type, wide));
    note->setVisibility(GlobalValue::HiddenVisibility);
    note->setDSOLocal(true);
}

} // namespace

bool Collective::varies() const {
    return any_of(ArrayRef(parts, part_count),
                  [](const Part &part) { return part.length == Part::each; });
}

bool moves_collectives() {
    return g_moves;
}

const Collective *collective(const CallBase &call) {
    const Function *function = g_moves ? call.getCalledFunction() : nullptr;
    return function && call.arg_size() == function->arg_size() ? collective_of(*function) : nullptr;
}

bool is_in_place(const Value *memory) {
    const auto *expression = dyn_cast<ConstantExpr>(memory);
    const auto *address = expression && expression->getOpcode() == Instruction::IntToPtr
                              ? dyn_cast<ConstantInt>(expression->getOperand(0))
                              : nullptr;
    return address && (address->isOne() || address->isMinusOne());
}

SmallVector<Buffer, 2> buffers_of(const Collective &what, const CallBase &call) {
    SmallVector<Buffer, 2> buffers;
    for (const Part &part : ArrayRef(what.parts, what.part_count)) {
        if (!is_in_place(call.getArgOperand(part.memory)))
            buffers.push_back({call.getArgOperand(part.memory), part.is_received});
        if (part.length == Part::each)
            for (const unsigned numbers : {part.count, part.places()})
                buffers.push_back({call.getArgOperand(numbers), false});
    }
    return buffers;
}

const Value *received_buffer(const Collective &what, const CallBase &call) {
    for (const Buffer &buffer : buffers_of(what, call))
        if (buffer.is_written)
            return buffer.memory;
    return nullptr;
}

const char *obstacle(const Collective &what, const CallBase &call) {
    if (what.operation >= 0 && !is_predefined(call.getArgOperand(what.operation)))
        return "its operation may be one of the program's own";
    for (const Part &part : ArrayRef(what.parts, what.part_count)) {
        if (is_predefined(call.getArgOperand(part.type)))
            continue; // no absolute address is in it
        for (const Value *object : objects_of(call.getArgOperand(part.memory)))
            if (isa<ConstantPointerNull, UndefValue>(object) ||
                (isa<ConstantExpr>(object) && !is_in_place(object)))
                return "its buffer is given by absolute addresses";
    }
    return nullptr;
}

bool may_follow(const Collective &one, const CallBase &one_call, const Collective &next,
                const CallBase &next_call) {
    const Value *communicator = next_call.getArgOperand(next.communicator());
    const Value *other = one_call.getArgOperand(one.communicator());
    if (isa<Constant>(communicator) && isa<Constant>(other) && communicator != other)
        return false;
    // Each rank waits for the same ones in the first, or for the root and nobody else.
    if (!one.varies() && one.shape != Collective::to_root)
        return true;
    // Each rank that waits for somebody in the second waits for all, that is until they have come
    // that far.
    if (!next.varies() && next.shape != Collective::from_root)
        return true;
    // The only one of whom the second tells is the one that the first does not let wait; or nobody
    // who waits in the first is told of in the second.
    if (one.shape != next.shape || one.shape == Collective::all)
        return false;
    const Value *root = next_call.getArgOperand(next.root); // the same in all rounds of a loop
    return isa<Constant, Argument>(root) && one_call.getArgOperand(one.root) == root;
}

FunctionCallee library_function(Module &module, StringRef what, const Collective &collective,
                                FunctionType *type, bool wide) {
    note_handles(module, wide);
    return hidden_function(
        module,
        ("sennit_pass_" + what + StringRef(collective.name).drop_front(StringRef("MPI_").size()))
            .str(),
        type);
}

bool replace_collectives(Module &module) {
    SmallVector<Function *, 8> functions;
    if (g_moves)
        for (Function &function : module)
            if (collective_of(function) && !function.use_empty())
                functions.push_back(&function);
    for (Function *function : functions) {
        FunctionType *type = function->getFunctionType();
        const bool wide = type->getParamType(type->getNumParams() - 1)->isPointerTy();
        function->replaceAllUsesWith(
            library_function(module, "", *collective_of(*function), type, wide).getCallee());
    }
    return !functions.empty();
}

} // namespace sennit::pass
