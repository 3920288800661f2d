// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that have a row in call/calls.txt, and those that make a request. generate.py
// writes their arguments and rows, and a line that exports each one.
#include "mpi/call/bare.h"
#include "mpi/crowd/length.h"
#include "mpi/quirks/arguments.h"
#include "mpi/quirks/flushes.h"
#include "mpi/quirks/open_mpi.h"
#include "mpi/quirks/requests.h"
#include "mpi/record/record.h"
#include "mpi/wrap/any_call.h"
#include "mpi/wrap/row.h"
#include "mpi/wrap/wrap.h"
#include "mpi/wrap/wrapper.h"
#ifndef MPI_ABI
#include "mpi/extensions/fortran.h"
#endif

#include "TAMPI.h"

using namespace sennit::mpi;

#include "mpi-calls.inc" // generated
