/* SPDX-License-Identifier: Apache-2.0
 * A profiling tool within the program: it wraps MPI_X, counts, and calls PMPI_X. */
#ifndef TOOL_H
#define TOOL_H

#include <mpi.h>
#include <stdatomic.h>

static atomic_int receives, sends, others;

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    atomic_fetch_add(&receives, 1);
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    atomic_fetch_add(&sends, 1);
    return PMPI_Ssend(buf, count, datatype, dest, tag, comm);
}
/* What only Sennit calls here. */
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    atomic_fetch_add(&others, 1);
    return PMPI_Test(request, flag, status);
}
int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                 MPI_Status statuses[]) {
    atomic_fetch_add(&others, 1);
    return PMPI_Testsome(incount, requests, outcount, indices, statuses);
}

#endif
