// SPDX-License-Identifier: Apache-2.0
// What generate.py makes of calls.txt beside the wrappers.
#pragma once

namespace sennit::mpi {

// Is this the symbol of a call of the table that may block, in C or Fortran?
int is_blocking(const char *symbol);

} // namespace sennit::mpi
