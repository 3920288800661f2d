/* SPDX-License-Identifier: Apache-2.0
 * Preprocessed by an MPI's compiler wrapper: what MPI_COMM_WORLD is says which ABI the MPI has, and
 * the line markers say where mpi.h is (SennitMpiKind.cmake). */
#include <mpi.h>
sennit_world = MPI_COMM_WORLD;
