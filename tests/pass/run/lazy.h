/* SPDX-License-Identifier: Apache-2.0
 * For programs that the plug-in transforms: an MPI in which nothing moves before it is waited for.
 * A buffer that is touched too early has wrong numbers then, always. */
#pragma once
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

struct lazy {
    /* kind 1: a send; 2: a receive; others below */
    int kind, count, peer, tag;
    void *buffer;
    MPI_Datatype type;
    MPI_Comm communicator;
    MPI_Request *request; /* MPI's own */
    const void *sent; /* of collective calls, whose root is `peer` */
    int sent_count;
    MPI_Op operation;
};
#ifdef LAZY_COLLECTIVES
static void lazy_post_collective(const struct lazy *one);
#else
static void lazy_post_collective(const struct lazy *one) {
    (void)one;
    abort();
}
#endif
static struct lazy lazy_list[64];
static int lazy_count, lazy_started;

/* A request of the program's is the number of one of MPI's, and may be copied as they may. */
enum { LAZY_FIRST = 0x5e000000, LAZY_MOST = 64 };
static MPI_Request lazy_requests[LAZY_MOST];
static int lazy_is_used[LAZY_MOST];

static MPI_Request *lazy_new_request(MPI_Request *request) {
    for (int i = 0; i < LAZY_MOST; ++i)
        if (!lazy_is_used[i]) {
            lazy_is_used[i] = 1;
            *request = (MPI_Request)(intptr_t)(LAZY_FIRST + i);
            return &lazy_requests[i];
        }
    abort();
}

static void lazy_post(void) {
    for (int i = 0; i < lazy_count; ++i) {
        struct lazy *one = &lazy_list[i];
        if (one->kind == 1)
            PMPI_Isend(one->buffer, one->count, one->type, one->peer, one->tag, one->communicator,
                       one->request);
        else if (one->kind == 2)
            PMPI_Irecv(one->buffer, one->count, one->type, one->peer, one->tag, one->communicator,
                       one->request);
        else
            lazy_post_collective(one);
    }
    lazy_count = 0;
}

static int lazy_add(int kind, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm communicator, MPI_Request *request) {
    if (lazy_count == 64)
        abort();
    lazy_list[lazy_count++] = (struct lazy){.kind = kind,
                                            .count = count,
                                            .peer = peer,
                                            .tag = tag,
                                            .buffer = (void *)buffer,
                                            .type = type,
                                            .communicator = communicator,
                                            .request = lazy_new_request(request)};
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
    const intptr_t number = (intptr_t)*request - LAZY_FIRST;
    lazy_post();
    if (number < 0 || number >= LAZY_MOST)
        return PMPI_Wait(request, status);
    lazy_is_used[number] = 0;
    *request = MPI_REQUEST_NULL;
    return PMPI_Wait(&lazy_requests[number], status);
}
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    lazy_post();
    for (int i = 0; i < count; ++i) {
        const int error = MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                                                 : &statuses[i]);
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}

#ifdef LAZY_COLLECTIVES
enum { lazy_bcast = 3, lazy_barrier, lazy_allreduce, lazy_reduce, lazy_gather, lazy_allgather, lazy_scatter };

/* In the order of the calls, whichever they are: MPI matches them by that. Types are the same on
 * both sides. */
static void lazy_post_collective(const struct lazy *one) {
    const void *sent = one->sent;
    void *buffer = one->buffer;
    const int n = one->count, sent_n = one->sent_count, root = one->peer;
    MPI_Datatype type = one->type;
    switch (one->kind) {
    case lazy_barrier:
        PMPI_Ibarrier(one->communicator, one->request);
        break;
    case lazy_bcast:
        PMPI_Ibcast(buffer, n, type, root, one->communicator, one->request);
        break;
    case lazy_allreduce:
        PMPI_Iallreduce(sent, buffer, n, type, one->operation, one->communicator, one->request);
        break;
    case lazy_reduce:
        PMPI_Ireduce(sent, buffer, n, type, one->operation, root, one->communicator, one->request);
        break;
    case lazy_gather:
        PMPI_Igather(sent, sent_n, type, buffer, n, type, root, one->communicator, one->request);
        break;
    case lazy_allgather:
        PMPI_Iallgather(sent, sent_n, type, buffer, n, type, one->communicator, one->request);
        break;
    case lazy_scatter:
        PMPI_Iscatter(sent, sent_n, type, buffer, n, type, root, one->communicator, one->request);
        break;
    default:
        abort();
    }
}

static int lazy_add_collective(int kind, const void *sent, int sent_count, void *buffer, int count,
                               MPI_Datatype type, MPI_Op operation, int root,
                               MPI_Comm communicator, MPI_Request *request) {
    lazy_add(kind, buffer, count, type, root, 0, communicator, request);
    lazy_list[lazy_count - 1].sent = sent;
    lazy_list[lazy_count - 1].sent_count = sent_count;
    lazy_list[lazy_count - 1].operation = operation;
    return MPI_SUCCESS;
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request) {
    return lazy_add(lazy_bcast, buffer, count, type, root, 0, comm, request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    return lazy_add(lazy_barrier, NULL, 0, MPI_BYTE, 0, 0, comm, request);
}
int MPI_Iallreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request *request) {
    return lazy_add_collective(lazy_allreduce, sent, count, received, count, type, operation, 0,
                               comm, request);
}
int MPI_Ireduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op operation,
                int root, MPI_Comm comm, MPI_Request *request) {
    return lazy_add_collective(lazy_reduce, sent, count, received, count, type, operation, root,
                               comm, request);
}
int MPI_Igather(const void *sent, int count, MPI_Datatype type, void *received, int each,
                MPI_Datatype as, int root, MPI_Comm comm, MPI_Request *request) {
    (void)as;
    return lazy_add_collective(lazy_gather, sent, count, received, each, type, MPI_OP_NULL, root,
                               comm, request);
}
int MPI_Iallgather(const void *sent, int count, MPI_Datatype type, void *received, int each,
                   MPI_Datatype as, MPI_Comm comm, MPI_Request *request) {
    (void)as;
    return lazy_add_collective(lazy_allgather, sent, count, received, each, type, MPI_OP_NULL, 0,
                               comm, request);
}
int MPI_Iscatter(const void *sent, int each, MPI_Datatype type, void *received, int count,
                 MPI_Datatype as, int root, MPI_Comm comm, MPI_Request *request) {
    (void)as;
    return lazy_add_collective(lazy_scatter, sent, each, received, count, type, MPI_OP_NULL, root,
                               comm, request);
}
#endif
