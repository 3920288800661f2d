// SPDX-License-Identifier: Apache-2.0
#include "fortran_calls.h"

#include "mpi_calls.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace sennit::pass {
namespace {

using namespace llvm;

struct Form {
    const char *fortran;
    const char *c;
    // Its arguments without the error code: a memory, i integer, h memory that is kept until the
    // operation is over.
    const char *arguments;
};

constexpr Form kForms[] = {
    {"mpi_send_", "MPI_Send", "miiiii"},
    {"mpi_ssend_", "MPI_Ssend", "miiiii"},
    {"mpi_rsend_", "MPI_Rsend", "miiiii"},
    {"mpi_recv_", "MPI_Recv", "miiiiim"},
    {"mpi_sendrecv_", "MPI_Sendrecv", "miiiimiiiiim"},
    {"mpi_isend_", "MPI_Isend", "hiiiiim"},
    {"mpi_irsend_", "MPI_Irsend", "hiiiiim"},
    {"mpi_irecv_", "MPI_Irecv", "hiiiiim"},
    {"mpi_wait_", "MPI_Wait", "mm"},
    {"mpi_waitall_", "MPI_Waitall", "imm"},
};

// Behind the arguments are the lengths of those that are CHARACTER. MPI does not look at them: its
// procedures are the same for all types.
bool has_arguments_of(const CallInst &call, const Form &form) {
    const std::size_t count = StringRef(form.arguments).size() + 1;
    if (call.arg_size() < count)
        return false;
    return all_of(call.args(), [&](const Use &use) {
        return call.getArgOperandNo(&use) < count ? use->getType()->isPointerTy()
                                                  : use->getType()->isIntegerTy();
    });
}

// Null: `call` is none of them.
const Form *form_of(const CallInst &call) {
    const auto *called = dyn_cast<Function>(call.getCalledOperand());
    if (!called || !called->isDeclaration() || !call.getType()->isVoidTy())
        return nullptr;
    for (const Form &form : kForms)
        if (called->getName() == form.fortran)
            return has_arguments_of(call, form) ? &form : nullptr;
    return nullptr;
}

// Null: it is not one of C's shape.
const Form *form_behind(const CallInst &call) {
    const StringRef name = is_fortran(call) ? name_of_call(call) : "";
    for (const Form &form : kForms)
        if (name == form.c)
            return &form;
    return nullptr;
}

Function *declared(Module &module, const Form &form) {
    LLVMContext &context = module.getContext();
    SmallVector<Type *, 12> types;
    for (const char kind : StringRef(form.arguments))
        types.push_back(kind == 'i' ? cast<Type>(Type::getInt32Ty(context))
                                    : PointerType::getUnqual(context));
    auto *type = FunctionType::get(Type::getInt32Ty(context), types, /*isVarArg=*/false);
    auto *function = cast<Function>(
        module.getOrInsertFunction((Twine(kFromFortran) + form.c).str(), type).getCallee());
    for (Argument &argument : function->args())
        if (form.arguments[argument.getArgNo()] == 'm')
            argument.addAttr(Attribute::NoCapture);
    return function;
}

void give_shape(CallInst &call, const Form &form) {
    IRBuilder<> builder(&call);
    SmallVector<Value *, 12> arguments;
    for (const char kind : StringRef(form.arguments)) {
        Value *argument = call.getArgOperand(static_cast<unsigned>(arguments.size()));
        if (kind == 'i')
            argument = builder.CreateAlignedLoad(builder.getInt32Ty(), argument, Align(4));
        arguments.push_back(argument);
    }
    Value *error = builder.CreateCall(declared(*call.getModule(), form), arguments);
    const auto last = static_cast<unsigned>(arguments.size());
    builder.CreateAlignedStore(error, call.getArgOperand(last), Align(4));
    call.eraseFromParent();
}

// Variables for the integers of all calls of a function: each is written right before it.
class Variables {
  public:
    explicit Variables(Function &function) : function_(function) {}

    AllocaInst *at(std::size_t place) {
        while (variables_.size() <= place) {
            BasicBlock &entry = function_.getEntryBlock();
            IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
            variables_.push_back(builder.CreateAlloca(builder.getInt32Ty()));
            variables_.back()->setName("sennit.integer");
        }
        return variables_[place];
    }

  private:
    Function &function_;
    SmallVector<AllocaInst *, 12> variables_;
};

void restore(CallInst &call, const Form &form, Variables &variables) {
    IRBuilder<> builder(&call);
    SmallVector<Value *, 13> arguments;
    for (const char kind : StringRef(form.arguments)) {
        const std::size_t place = arguments.size();
        Value *argument = call.getArgOperand(static_cast<unsigned>(place));
        if (kind == 'i') {
            builder.CreateStore(argument, variables.at(place));
            argument = variables.at(place);
        }
        arguments.push_back(argument);
    }
    AllocaInst *error = variables.at(arguments.size());
    arguments.push_back(error);
    const SmallVector<Type *, 13> types(arguments.size(), builder.getPtrTy());
    auto *type = FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false);
    builder.CreateCall(type, call.getModule()->getOrInsertFunction(form.fortran, type).getCallee(),
                       arguments);
    if (!call.use_empty())
        call.replaceAllUsesWith(builder.CreateLoad(builder.getInt32Ty(), error));
    call.eraseFromParent();
}

// Procedures with an error code, beside those that effects_of() knows. Not all that begin with
// mpi_: programs have such names, too.
bool has_error_code(StringRef symbol) {
    static constexpr const char *kNames[] = {
        "abort", "init", "init_thread", "finalize", "error_class", "error_string", "get_address",
        "address", "get_version", "request_free", "cancel", "pack", "unpack", "pack_size",
        // communicators, groups
        "comm_compare", "comm_create", "comm_create_group", "comm_dup", "comm_free",
        "comm_get_attr", "comm_get_name", "comm_remote_size", "comm_set_errhandler",
        "comm_set_name", "comm_split", "comm_split_type", "comm_test_inter", "attr_get",
        "errhandler_set", "group_excl", "group_free", "group_incl", "group_rank", "group_size",
        "group_translate_ranks",
        // topologies
        "cart_coords", "cart_create", "cart_get", "cart_rank", "cart_shift", "cart_sub",
        "cartdim_get", "dims_create", "dist_graph_create", "dist_graph_create_adjacent",
        "graph_create",
        // datatypes, operations
        "op_create", "op_free", "type_commit", "type_contiguous", "type_create_hindexed",
        "type_create_hvector", "type_create_indexed_block", "type_create_resized",
        "type_create_struct", "type_create_subarray", "type_dup", "type_extent", "type_free",
        "type_get_extent", "type_get_true_extent", "type_hindexed", "type_hvector", "type_indexed",
        "type_struct", "type_vector"};
    StringRef name = symbol;
    if (!name.consume_front("mpi_") || !name.consume_back("_"))
        return false;
    return is_contained(kNames, name) || effects_of(symbol).known;
}

} // namespace

void declare_error_codes(Module &module) {
    for (const Function &function : module) {
        if (!function.isDeclaration() || function.arg_empty() ||
            !function.getReturnType()->isVoidTy() || !has_error_code(function.getName()))
            continue;
        Argument &last = *function.getArg(static_cast<unsigned>(function.arg_size()) - 1);
        if (!last.getType()->isPointerTy())
            continue;
        last.addAttr(Attribute::NoCapture);
        last.addAttr(Attribute::WriteOnly);
    }
}

bool give_fortran_calls_shape(Module &module) {
    bool changed = false;
    for (Function &function : module) {
        if (function.hasOptNone())
            continue;
        for (Instruction &instruction : make_early_inc_range(instructions(function)))
            if (auto *call = dyn_cast<CallInst>(&instruction))
                if (const Form *form = form_of(*call)) {
                    give_shape(*call, *form);
                    changed = true;
                }
    }
    return changed;
}

bool restore_fortran_calls(Module &module) {
    bool changed = false;
    for (Function &function : module) {
        Variables variables(function);
        for (Instruction &instruction : make_early_inc_range(instructions(function)))
            if (auto *call = dyn_cast<CallInst>(&instruction))
                if (const Form *form = form_behind(*call)) {
                    restore(*call, *form, variables);
                    changed = true;
                }
    }
    for (Function &function : make_early_inc_range(module))
        if (function.getName().starts_with(kFromFortran) && function.use_empty())
            function.eraseFromParent();
    return changed;
}

} // namespace sennit::pass
