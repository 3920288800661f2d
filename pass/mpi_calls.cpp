// SPDX-License-Identifier: Apache-2.0
#include "mpi_calls.h"

#include "collectives.h"
#include "tasks/program/marks.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

#include <string>

namespace sennit::pass {
namespace {

using llvm::StringRef;
using namespace program::note;

constexpr PointToPoint kPointToPoint[] = {
    {"MPI_Send", "sennit_pass_Isend", false, false},
    {"MPI_Ssend", "sennit_pass_Issend", false, true},
    {"MPI_Rsend", "sennit_pass_Irsend", false, false},
    {"MPI_Recv", "sennit_pass_Irecv", true, false},
};

// In a library, with that many arguments.
bool is_library_call(const llvm::CallBase &call, StringRef name, unsigned arguments) {
    const llvm::Function *function = call.getCalledFunction();
    return function && function->isDeclaration() && call.arg_size() == arguments &&
           name_of_call(call) == name;
}

// Without P, lower case, without what Fortran's bindings add: "mpi_isend_f08_" is "isend". Empty:
// it is not MPI's.
std::string mpi_name(StringRef symbol) {
    symbol.consume_front_insensitive("p");
    if (!symbol.consume_front_insensitive("mpi_"))
        return "";
    while (symbol.consume_back("_") || symbol.consume_back("_f08") ||
           symbol.consume_back("_f08ts")) {
    }
    return symbol.lower();
}

Effects effects_of_mpi(StringRef name) {
    constexpr std::uint32_t kLocal = 0;
    return llvm::StringSwitch<Effects>(name)
        .Cases("send", "ssend", "rsend", "bsend", {true, kSends | kBlocks})
        .Cases("isend", "issend", "irsend", "ibsend", {true, kSends})
        .Cases("recv", "mrecv", {true, kReceives | kBlocks})
        .Cases("irecv", "imrecv", {true, kReceives})
        .Cases("sendrecv", "sendrecv_replace", {true, kSends | kReceives | kBlocks})
        .Cases("isendrecv", "isendrecv_replace", {true, kSends | kReceives})
        .Cases("wait", "waitall", "waitany", "waitsome", "probe", "mprobe", {true, kBlocks})
        .Cases("barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter",
               "scatterv", {true, kBlocks})
        .Cases("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "scan", "exscan",
               {true, kBlocks})
        .Cases("test", "testall", "testany", "testsome", "iprobe", "improbe", {true, kLocal})
        .Cases("comm_rank", "comm_size", "comm_group", "get_count", "get_elements", "wtime",
               "wtick", "type_size", {true, kLocal})
        .Cases("get_processor_name", "query_thread", "initialized", "finalized", "is_thread_main",
               "type_get_extent", {true, kLocal})
        .Cases("start", "startall", {true, kUnknown}) // whatever the requests are for
        .Default({false, kBlocks | kUnknown});
}

// Until its operation is complete.
bool keeps_buffer(StringRef name) {
    return llvm::StringSwitch<bool>(name)
        .Cases("isend", "issend", "irsend", "ibsend", "irecv", "imrecv", true)
        .Cases("isendrecv", "isendrecv_replace", true)
        .Default(false);
}

// Entry points of the OpenMP runtime that neither wait nor run tasks.
bool is_plain_openmp(StringRef symbol) {
    for (const char *start :
         {"__kmpc_global_thread_num", "__kmpc_for_static_", "__kmpc_distribute_static_",
          "__kmpc_threadprivate", "__kmpc_push_", "__kmpc_omp_task_alloc", "__kmpc_dispatch_",
          "__kmpc_ok_to_fork", "__kmpc_in_parallel", "__kmpc_bound_", "__kmpc_atomic_",
          "__kmpc_task_allow_completion_event", "__kmpc_task_reduction_get_th_data", "omp_get_",
          "omp_in_", "omp_fulfill_event"})
        if (symbol.starts_with(start))
            return true;
    return false;
}

} // namespace

bool is_fortran(const llvm::CallBase &call) {
    const llvm::Function *function = call.getCalledFunction();
    return function && function->getName().starts_with(kFromFortran);
}

StringRef name_of_call(const llvm::CallBase &call) {
    const llvm::Function *function = call.getCalledFunction();
    StringRef name = function ? function->getName() : "";
    name.consume_front(kFromFortran);
    return name;
}

bool is_fortran_address(const llvm::Value *object) {
    const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(object);
    return global && (global->getName().starts_with("mpi_fortran_") ||
                      global->getName().starts_with("mpipriv"));
}

// Not PMPI_...: whoever calls it wants no one in between.
const PointToPoint *point_to_point(const llvm::CallBase &call) {
    for (const PointToPoint &one : kPointToPoint)
        if (is_library_call(call, one.name, one.arguments()))
            return &one;
    return nullptr;
}

// What is known of a wait is what is known of its operation.
const PointToPoint *wait_for_operation(const llvm::CallBase &call) {
    static constexpr PointToPoint kSendWait = {"MPI_Wait", "sennit_pass_Iwait", false, false};
    static constexpr PointToPoint kReceiveWait = {"MPI_Wait", "sennit_pass_Iwait", true, false};
    const StringRef name = name_of_call(call);
    if (!is_library_call(call, name, 7))
        return nullptr;
    return llvm::StringSwitch<const PointToPoint *>(name)
        .Cases("MPI_Isend", "MPI_Irsend", "MPI_Ibsend", &kSendWait)
        .Case("MPI_Irecv", &kReceiveWait)
        .Default(nullptr);
}

bool is_exchange(const llvm::CallBase &call) {
    return is_library_call(call, "MPI_Sendrecv", Exchange::kArguments);
}

bool is_wait(const llvm::CallBase &call) {
    return is_library_call(call, "MPI_Wait", 2);
}

bool is_wait_for_all(const llvm::CallBase &call) {
    return is_library_call(call, "MPI_Waitall", 3);
}

bool may_wait(const llvm::CallBase &call) {
    return is_wait(call) || is_wait_for_all(call) || is_library_call(call, "MPI_Waitany", 4) ||
           is_library_call(call, "MPI_Waitsome", 5);
}

namespace {

// "Isend": of C's slots (library/slots.c) and of Fortran's functions (library/fortran.c).
StringRef request_free_form(const llvm::CallBase &call) {
    const llvm::Value *called = call.getCalledOperand();
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(called))
        called = load->getPointerOperand();
    StringRef name = called->getName();
    if (!name.consume_front("sennit_pass_"))
        return "";
    if (llvm::isa<llvm::Function>(called))
        return name.consume_front("fortran_I") ? name : "";
    return name.consume_front("I") ? name : "";
}

} // namespace

bool is_bound(const llvm::CallBase &call) {
    return !request_free_form(call).empty();
}

const PointToPoint *bound_point_to_point(const llvm::CallBase &call) {
    const StringRef form = request_free_form(call);
    for (const PointToPoint &one : kPointToPoint)
        if (!form.empty() && StringRef(one.slot).ends_with(("_I" + form).str()))
            return &one;
    return nullptr;
}

bool calls_mpi(const llvm::Instruction &instruction) {
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const StringRef name = call ? name_of_call(*call) : "";
    return call && (is_bound(*call) ||
                    (name.starts_with_insensitive("mpi_") && effects_of(name).flags != 0));
}

bool ignores_status(const llvm::Value *status) {
    if (llvm::isa<llvm::ConstantPointerNull>(status) ||
        is_fortran_address(llvm::getUnderlyingObject(status)))
        return true;
    const auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(status);
    return expression && expression->getOpcode() == llvm::Instruction::IntToPtr &&
           llvm::cast<llvm::ConstantInt>(expression->getOperand(0))->isOne();
}

bool has_wide_handles(const llvm::CallBase &call) {
    const Collective *what = collective(call);
    return call.getArgOperand(what ? what->communicator() : PointToPoint::kDatatype)
        ->getType()
        ->isPointerTy();
}

// MPICH's handles are integers, those of Open MPI and of the standard ABI are pointers. Fortran's
// are taken for MPICH's: library/fortran.c knows better.
llvm::Constant *no_status(const llvm::CallBase &call) {
    llvm::LLVMContext &context = call.getContext();
    auto *pointer = llvm::PointerType::getUnqual(context);
    if (has_wide_handles(call))
        return llvm::ConstantPointerNull::get(pointer);
    return llvm::ConstantExpr::getIntToPtr(
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), 1), pointer);
}

Effects effects_of(StringRef symbol) {
    if (const std::string name = mpi_name(symbol); !name.empty())
        return effects_of_mpi(name);
    if (is_plain_openmp(symbol))
        return {true, 0};
    if (symbol.starts_with("sennit_pass_loop_")) // library/loops.h
        return {true, 0};
    if (symbol.consume_front("sennit_pass_")) { // library/batch.h, library/fortran.h
        symbol.consume_front("fortran_");
        return llvm::StringSwitch<Effects>(symbol)
            .Case("send", {true, kSends | kBlocks})
            .Cases("receive", "receive_early", "receive_late", {true, kReceives | kBlocks})
            .Case("exchange", {true, kSends | kReceives | kBlocks})
            .Default({true, kBlocks});
    }
    if (symbol.starts_with("__kmpc_") ||
        symbol.starts_with("omp_")) // may run other tasks meanwhile
        return {true, kBlocks};
    return {false, 0};
}

bool only_computes(StringRef symbol) {
    static constexpr const char *kNames[] = {
        "acos",  "acosh", "asin", "asinh",     "atan",  "atan2", "atanh", "cbrt",  "cos", "cosh",
        "erf",   "erfc",  "exp",  "exp2",      "expm1", "fdim",  "fmod",  "hypot", "log", "log10",
        "log1p", "log2",  "pow",  "remainder", "sin",   "sinh",  "sqrt",  "tan",   "tanh"};
    return llvm::any_of(kNames, [&](StringRef name) {
        return symbol == name || (symbol.size() == name.size() + 1 && symbol.starts_with(name) &&
                                  (symbol.back() == 'f' || symbol.back() == 'l'));
    });
}

bool is_linear_algebra(const llvm::Function &function) {
    struct Routine {
        const char *name;
        unsigned arguments; // of Fortran's. C's have one more if there is a matrix
        bool has_matrix;
    };
    static constexpr Routine kRoutines[] = {
        {"asum", 3, false}, {"axpy", 6, false}, {"copy", 5, false}, {"dot", 5, false},
        {"nrm2", 3, false}, {"scal", 4, false}, {"swap", 5, false}, {"gemv", 11, true},
        {"ger", 9, true},   {"symv", 10, true}, {"trmv", 8, true},  {"trsv", 8, true},
        {"gemm", 13, true}, {"symm", 12, true}, {"syrk", 10, true}, {"syr2k", 12, true},
        {"trmm", 11, true}, {"trsm", 11, true}};
    StringRef name = function.getName();
    const bool is_c = name.consume_front("cblas_");
    if (!function.isDeclaration() || (!is_c && !name.consume_back("_")) ||
        (!name.consume_front("s") && !name.consume_front("d")))
        return false;
    // Behind Fortran's arguments are lengths of strings.
    const auto pointers = llvm::count_if(function.args(), [](const llvm::Argument &argument) {
        return argument.getType()->isPointerTy();
    });
    return llvm::any_of(kRoutines, [&](const Routine &one) {
        return name == one.name && (is_c ? function.arg_size() == one.arguments + one.has_matrix
                                         : static_cast<unsigned>(pointers) == one.arguments);
    });
}

std::optional<unsigned> asks_only(StringRef symbol) {
    constexpr unsigned kNone = ~0U;
    return llvm::StringSwitch<std::optional<unsigned>>(symbol)
        .Cases("MPI_Comm_rank", "MPI_Comm_size", "MPI_Type_size", 0U)
        .Case("MPI_Get_count", 1U)
        .Cases("omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads", kNone)
        .Cases("omp_in_parallel", "omp_get_level", kNone)
        .Default(std::nullopt);
}

bool keeps_no_pointer(StringRef symbol) {
    const std::string name = mpi_name(symbol);
    if (name.empty() || name == "start" || name == "startall" || keeps_buffer(name))
        return false;
    return effects_of_mpi(name).known ||
           llvm::StringSwitch<bool>(name) // what sets a program up
               .Cases("init", "init_thread", "comm_dup", "comm_split", true)
               .Cases("dims_create", "cart_create", "cart_coords", "cart_rank", "cart_shift", true)
               .Cases("type_contiguous", "type_vector", "type_commit", true)
               .Default(false);
}

bool starts_operation(StringRef symbol) {
    return symbol.starts_with("MPI_") && keeps_buffer(mpi_name(symbol));
}

} // namespace sennit::pass
