/* SPDX-License-Identifier: Apache-2.0
 *
 * sennit_worlds.h - programs of one MPI job that each have a world of their own:
 *
 *     sennit run --worlds -n 4 ./ocean : -n 2 ./ice
 *
 * There MPI_COMM_WORLD has the ranks of the calling program only. This communicator has all of the
 * job, first those of the first program. It is made in MPI_Init. Without --worlds it is
 * MPI_COMM_WORLD.
 *
 * The functions live in libsennit-mpich.so and libsennit-openmpi.so. A program that must also run
 * without Sennit declares them weak (#pragma weak sennit_comm_all), or calls none of them and asks
 * MPI_Comm_get_info(MPI_COMM_WORLD) for the key "sennit_comm_all": the communicator as an integer
 * of Fortran's (MPI_Comm_f2c). Where the key is missing, MPI_COMM_WORLD has all ranks.
 *
 * In Fortran it is an integer function without arguments:
 *
 *     integer, external :: sennit_comm_all
 *     all = sennit_comm_all()              ! mpif.h, use mpi
 *     all%mpi_val = sennit_comm_all()      ! use mpi_f08
 */
#ifndef SENNIT_WORLDS_H
#define SENNIT_WORLDS_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The communicator of all ranks of the job. From MPI_Init to MPI_Finalize; it must not be freed. */
MPI_Comm sennit_comm_all(void);

#ifdef __cplusplus
}
#endif

#endif
