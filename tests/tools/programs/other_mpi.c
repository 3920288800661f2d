/* SPDX-License-Identifier: Apache-2.0
 * part: # of targets of CMakeLists.txt
 * A library with the names by which an MPI of the ABI that is asked for is known, and nothing else
 * of it. */
#pragma GCC visibility push(default)
int MPI_Init(void);
int PMPI_Init(void);
int MPI_Init(void) {
    return 0;
}
int PMPI_Init(void) {
    return 0;
}
#if defined(ABI_MPICH)
int *MPI_UNWEIGHTED = 0;
#elif defined(ABI_OPENMPI)
int ompi_mpi_comm_world = 0;
#elif defined(ABI_MPIABI)
int MPI_Abi_get_version(void);
int MPI_Abi_get_version(void) {
    return 0;
}
#endif
