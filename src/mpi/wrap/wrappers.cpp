// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that have a row in call/calls.txt, and those that make a request. generate.py
// writes their arguments and rows, and a line that exports each one.
#include "mpi/call/bare.h"
#include "mpi/crowd/volume.h"
#include "mpi/quirks/dist_graph.h"
#include "mpi/quirks/test_all.h"
#include "mpi/quirks/unfit_twins.h"
#include "mpi/record/record.h"
#include "mpi/wrap/bound.h"
#include "mpi/wrap/row.h"
#include "mpi/wrap/spawn.h"
#include "mpi/wrap/wrapper.h"
#ifndef MPI_ABI
#include "mpi/extensions/fortran.h"
#endif

#include "TAMPI.h"

using namespace sennit::mpi;

#include "mpi-calls.inc" // generated
