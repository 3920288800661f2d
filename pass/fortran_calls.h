// SPDX-License-Identifier: Apache-2.0
// Fortran's MPI calls take all by reference, and give the error code back through their last
// argument. Before anything is optimized they become calls of C's shape:
//
//     call mpi_recv_(buffer, count, type, from, tag, comm, status, error)
//     error = sennit.fortran.MPI_Recv(buffer, *count, *type, *from, *tag, *comm, status)
//
// What MPI only reads is then a value, and nobody else has the address of a counter or of an error
// code. So all that is done with C's calls is done with these. Those that are left become what they
// were: no such name is in the code that comes out.
//
// MPI reads the integers before it does anything else. So does the call of C's shape.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace sennit::pass {

// MPI writes the error code, and keeps its address nowhere.
void declare_error_codes(llvm::Module &module);

// Optimized functions only. Has the module changed?
bool give_fortran_calls_shape(llvm::Module &module);
bool restore_fortran_calls(llvm::Module &module);

} // namespace sennit::pass
