// SPDX-License-Identifier: Apache-2.0
// What the pass knows of calls by their names. A call that is not listed is unknown.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"

#include <cstdint>
#include <optional>

namespace sennit::pass {

// A blocking point-to-point call of C's binding: MPI_Send(buf, count, datatype, dest, tag, comm)
// and its like; MPI_Recv has the status behind.
struct PointToPoint {
    const char *name;  // "MPI_Send"
    const char *slot;  // holds its request-free form, see library/slots.c
    bool receives;     // else it sends
    bool synchronizes; // it returns when the other side has come: nothing may cross it

    static constexpr unsigned kBuffer = 0;
    static constexpr unsigned kCount = 1;
    static constexpr unsigned kDatatype = 2; // of all calls that have buffers
    static constexpr unsigned kPeer = 3;
    static constexpr unsigned kTag = 4;
    static constexpr unsigned kCommunicator = 5;
    static constexpr unsigned kStatus = 6; // of a receive
    unsigned arguments() const { return receives ? 7 : 6; }
};

// MPI_Sendrecv(out, count, datatype, to, tag, in, count, datatype, from, tag, comm, status).
struct Exchange {
    static constexpr unsigned kSent = 0;
    static constexpr unsigned kSentCount = 1;
    static constexpr unsigned kTo = 3;
    static constexpr unsigned kSentTag = 4;
    static constexpr unsigned kReceived = 5;
    static constexpr unsigned kReceivedCount = 6;
    static constexpr unsigned kFrom = 8;
    static constexpr unsigned kReceivedTag = 9;
    static constexpr unsigned kCommunicator = 10;
    static constexpr unsigned kStatus = 11;
    static constexpr unsigned kArguments = 12;
};
bool is_exchange(const llvm::CallBase &call);

// Fortran's calls have C's shape while the pass works on them (fortran_calls.h), and this before
// C's names. Their handles are integers, whatever the MPI.
inline constexpr llvm::StringLiteral kFromFortran = "sennit.fortran.";
bool is_fortran(const llvm::CallBase &call);
// "MPI_Send", whatever the language; empty: it is called through a pointer.
llvm::StringRef name_of_call(const llvm::CallBase &call);
// Is it a variable of mpif.h whose address has a meaning: that of MPI_BOTTOM and its like?
bool is_fortran_address(const llvm::Value *object);

// Null: `call` is something else. Direct calls only.
const PointToPoint *point_to_point(const llvm::CallBase &call);
// A non-blocking one: MPI_Isend(..., request) and its like. What its wait is.
const PointToPoint *wait_for_operation(const llvm::CallBase &call);
bool is_wait(const llvm::CallBase &call);         // MPI_Wait(request, status)
bool is_wait_for_all(const llvm::CallBase &call); // MPI_Waitall(count, requests, statuses)
// For operations that have begun before; what it writes, and what it reads, but for their buffers,
// are its arguments.
bool may_wait(const llvm::CallBase &call);

// Has the pass put its request-free form in place of the function?
bool is_bound(const llvm::CallBase &call);
// The same for one whose request-free form the pass has called instead.
const PointToPoint *bound_point_to_point(const llvm::CallBase &call);

// May it send, receive or wait?
bool calls_mpi(const llvm::Instruction &instruction);

// Is it one of MPICH's and Open MPI's addresses that stand for no status: 1 and 0, and variables of
// mpif.h?
bool ignores_status(const llvm::Value *status);
// Are the handles of its MPI pointers?
bool has_wide_handles(const llvm::CallBase &call);
// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of the MPI whose point-to-point call, or exchange, this
// is.
llvm::Constant *no_status(const llvm::CallBase &call);

// What the function with this name, declared here and defined elsewhere, does: bits of
// tasks/program/marks.h. `known`: it is in the tables. C's and Fortran's names.
struct Effects {
    bool known;
    std::uint32_t flags;
};
Effects effects_of(llvm::StringRef symbol);

// Does it compute, and may it set errno, but nothing else? Of C's library.
bool only_computes(llvm::StringRef symbol);
// Of BLAS, declared as C's or Fortran's: it touches what its arguments point to, and computes.
bool is_linear_algebra(const llvm::Function &function);
// Does it only tell what MPI or OpenMP knows already? The place of the argument that is a handle;
// null: it may do more.
std::optional<unsigned> asks_only(llvm::StringRef symbol);
// Does a call of this function keep no pointer that it is given? By name; MPI's blocking calls.
bool keeps_no_pointer(llvm::StringRef symbol);
// Does it start an operation that keeps its buffer, but not the address of the request, its last
// argument?
bool starts_operation(llvm::StringRef symbol);

} // namespace sennit::pass
