/* SPDX-License-Identifier: Apache-2.0
 * For programs that the plug-in transforms: an MPI in which nothing moves before it is waited for.
 * A buffer that is touched too early has wrong numbers then, always. */
#pragma once
#include <mpi.h>
#include <stdlib.h>

struct lazy {
    int kind, count, peer, tag; /* kind 1: a send; 2: a receive */
    void *buffer;
    MPI_Datatype type;
    MPI_Comm communicator;
    MPI_Request *request;
};
static struct lazy lazy_list[64];
static int lazy_count, lazy_started;

static void lazy_post(void) {
    for (int i = 0; i < lazy_count; ++i) {
        struct lazy *one = &lazy_list[i];
        if (one->kind == 1)
            PMPI_Isend(one->buffer, one->count, one->type, one->peer, one->tag, one->communicator,
                       one->request);
        else
            PMPI_Irecv(one->buffer, one->count, one->type, one->peer, one->tag, one->communicator,
                       one->request);
    }
    lazy_count = 0;
}

static int lazy_add(int kind, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm communicator, MPI_Request *request) {
    if (lazy_count == 64)
        abort();
    lazy_list[lazy_count++] =
        (struct lazy){kind, count, peer, tag, (void *)buffer, type, communicator, request};
    ++lazy_started;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm communicator, MPI_Request *request) {
    return lazy_add(1, buffer, count, type, to, tag, communicator, request);
}
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request *request) {
    return lazy_add(2, buffer, count, type, from, tag, communicator, request);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    lazy_post();
    return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    lazy_post();
    return PMPI_Waitall(count, requests, statuses);
}
