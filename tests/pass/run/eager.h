/* SPDX-License-Identifier: Apache-2.0
 * For programs that the plug-in transforms: an MPI in which a message that is to be received is
 * there as soon as its receive is started. A buffer that is still in use has wrong numbers then,
 * always. Sends move as they do. */
#pragma once
#include <mpi.h>

static struct {
    MPI_Request *request;
    MPI_Status status;
} eager_list[64];
static int eager_count;
/* How many are started as long as that number is not positive. */
static const double *eager_look;
static int eager_early;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request *request) {
    eager_early += eager_look && *eager_look <= 0;
    eager_list[eager_count].request = request;
    *request = MPI_REQUEST_NULL;
    return PMPI_Recv(buffer, count, type, from, tag, communicator,
                     &eager_list[eager_count++].status);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    for (int i = 0; i < eager_count; ++i)
        if (eager_list[i].request == request) {
            if (status != MPI_STATUS_IGNORE)
                *status = eager_list[i].status;
            eager_list[i] = eager_list[--eager_count];
            return MPI_SUCCESS;
        }
    return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    for (int i = 0; i < count; ++i) {
        const int error =
            MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}
