// SPDX-License-Identifier: Apache-2.0
// Preprocessed, this is the header that generate.py reads.
#include <TAMPI.h>
#include <mpi.h>

int sennit_mpi_standard[] = {MPI_VERSION, MPI_SUBVERSION};
#ifndef MPI_ABI
int sennit_mpi_fortran;
#endif
#ifdef MPICH_NUMVERSION
int sennit_mpich;
#endif
