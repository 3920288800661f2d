// SPDX-License-Identifier: Apache-2.0
// Preprocessed, this is the header that generate.py reads: MPI, TAMPI, and extensions of the MPI.
#include "mpi/call/header.c"
#include "worlds/newer_calls.h"

#include <mpi-ext.h>
