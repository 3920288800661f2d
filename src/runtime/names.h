// SPDX-License-Identifier: Apache-2.0
// What src/program is told of symbols of MPI, OpenMP and our own libraries.
#pragma once

#include "program/names.h"

namespace sennit::runtime {

extern const program::Names kNames;

// Is this the name of a send, of C or Fortran?
bool is_send(const char *symbol);

} // namespace sennit::runtime
