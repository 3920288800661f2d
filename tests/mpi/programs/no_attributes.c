/* SPDX-License-Identifier: Apache-2.0
 * build_once: out={bin}/{program}-{mpi}.so -fPIC -shared # one rank cannot keep what it knows of a
 *     communicator: it decides like the others, all the same
 * In front of an MPI library: on rank 1 it keeps no attributes of communicators, as where there is
 * no memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value) {
    int (*const set)(MPI_Comm, int, void *) =
        (int (*)(MPI_Comm, int, void *))dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 1 ? MPI_ERR_OTHER : set(comm, key, value);
}
