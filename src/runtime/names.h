// SPDX-License-Identifier: Apache-2.0
// What the rooms below are told of names: symbols and files of MPI, of OpenMP, of the compilers'
// libraries and of our own.
#pragma once

#include "program/names.h"
#include "watch/names.h"

namespace sennit::runtime {

extern const program::Names kNames;
extern const watch::Names kHangNames;

// Is this the name of a send, of C or Fortran?
bool is_send(const char *symbol);
// Is the file a part of MPICH, of Open MPI, or of what they stand on?
bool passes_messages(const char *path);

} // namespace sennit::runtime
