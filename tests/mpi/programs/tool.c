/* SPDX-License-Identifier: Apache-2.0
 * test:
 * A profiling tool in front of Sennit's library, as mpiP is: it wraps MPI_X and calls PMPI_X. It
 * sees each call of the program once and none of Sennit's, and the calls still suspend. */
#include "tool.h"
#include "check.h"

static atomic_int waits, reductions, barriers;

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    atomic_fetch_add(&waits, 1);
    return PMPI_Wait(request, status);
}
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
    atomic_fetch_add(&reductions, 1);
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
int MPI_Barrier(MPI_Comm comm) {
    atomic_fetch_add(&barriers, 1);
    return PMPI_Barrier(comm);
}
/* What only Sennit calls here, too. */
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request) {
    atomic_fetch_add(&others, 1);
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int main(int argc, char **argv) {
    enum { messages = 40 };
    int got[messages], sum = -1;
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(got)
            if (i % 2) {
                MPI_Recv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Request request;
                MPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
        }
        for (int i = messages - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
            MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
#pragma omp taskwait
#pragma omp task shared(sum)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2);
    for (int i = 0; i < messages; ++i)
        CHECK(got[i] == i);
    CHECK(atomic_load(&receives) == messages / 2 && atomic_load(&waits) == messages / 2);
    CHECK(atomic_load(&sends) == messages);
    CHECK(atomic_load(&reductions) == 1 && atomic_load(&barriers) == 1);
    CHECK(atomic_load(&others) == 0);
    MPI_Finalize();
    return 0;
}
