/* SPDX-License-Identifier: Apache-2.0
 * For programs that the plug-in transforms: an MPI in which the buffer of a receive has other
 * numbers as soon as it is started, and whatever is written there before the message is waited for
 * ends the program. So a buffer that is still in use is noticed, always. Sends move as they do. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct eager {
    MPI_Request request;
    void *buffer;
    int count, size; /* bytes of all */
    MPI_Datatype type;
    MPI_Comm communicator;
    char *before, *during, *message; /* what the buffer had; has; will have: packed */
} eager_list[64];
static int eager_count;
/* How many are started as long as that number is not positive. */
static const double *eager_look;
static int eager_early;

static void eager_pack(const struct eager *one, char *memory) {
    int place = 0;
    PMPI_Pack(one->buffer, one->count, one->type, memory, one->size, &place, one->communicator);
}
static void eager_unpack(const struct eager *one, char *memory, int count) {
    int place = 0;
    PMPI_Unpack(memory, one->size, &place, one->buffer, count, one->type, one->communicator);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request *request) {
    struct eager one = {
        .buffer = buffer, .count = count, .type = type, .communicator = communicator};
    eager_early += eager_look && *eager_look <= 0;
    if (from == MPI_PROC_NULL || eager_count == 64)
        return PMPI_Irecv(buffer, count, type, from, tag, communicator, request);
    PMPI_Pack_size(count, type, communicator, &one.size);
    one.before = calloc(4, (size_t)one.size + 1);
    one.during = one.before + one.size;
    one.message = one.during + one.size;
    eager_pack(&one, one.before);
    memset(one.during, 0xa5, (size_t)one.size);
    eager_unpack(&one, one.during, count);
    eager_pack(&one, one.during);
    const int error =
        PMPI_Irecv(one.message, one.size, MPI_PACKED, from, tag, communicator, request);
    one.request = *request;
    eager_list[eager_count++] = one;
    return error;
}

static void eager_arrive(struct eager *one, const MPI_Status *status) {
    int bytes, size;
    eager_pack(one, one->message + one->size); /* compared below */
    if (memcmp(one->message + one->size, one->during, (size_t)one->size) != 0) {
        fprintf(stderr, "the buffer of a receive has been written\n");
        abort();
    }
    PMPI_Get_count(status, MPI_PACKED, &bytes);
    PMPI_Type_size(one->type, &size);
    eager_unpack(one, one->before, one->count);
    if (size > 0)
        eager_unpack(one, one->message, bytes / size);
    free(one->before);
    *one = eager_list[--eager_count];
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    for (int i = 0; i < eager_count; ++i)
        if (eager_list[i].request == *request) {
            const int error = PMPI_Wait(request, &own);
            eager_arrive(&eager_list[i], &own);
            if (status != MPI_STATUS_IGNORE)
                *status = own;
            return error;
        }
    return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    for (int i = 0; i < count; ++i) {
        const int error = MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                                                 : &statuses[i]);
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}
