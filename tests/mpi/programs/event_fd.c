/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=2x1
 * progress: mode=polling
 * sennit.h, sennit_event_fd: a program that sits in epoll_wait, and never in MPI, hears of
 * messages. It has no OpenMP and runs also without Sennit's runtime. */
#define _GNU_SOURCE
#include "check.h"

#include <sennit.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { messages = 6, length = 1 << 20 };

static int other;

/* Sleeps until the descriptor has been told `calls` times. */
static void until(int fd, int calls) {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(set >= 0);
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
    while (calls > 0) {
        uint64_t told = 0;
        CHECK(epoll_wait(set, &event, 1, 60000) == 1);
        CHECK(read(fd, &told, sizeof told) == (ssize_t)sizeof told);
        CHECK(told <= (uint64_t)calls);
        calls -= (int)told;
    }
    CHECK(epoll_wait(set, &event, 1, 0) == 0);
    close(set);
}

/* One descriptor for many operations. */
static void one_by_one(void) {
    int fd = -1, got[messages];
    MPI_Status statuses[messages];
    for (int i = 0; i < messages; ++i) {
        MPI_Request request;
        if (rank == 0)
            MPI_Irecv(got + i, 1, MPI_INT, other, i, MPI_COMM_WORLD, &request);
        else
            MPI_Issend(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD, &request);
        CHECK(sennit_event_fd(&fd, 1, &request, statuses + i) == SENNIT_SUCCESS);
        CHECK(fd >= 0 && request == MPI_REQUEST_NULL);
        if (rank == 1)
            until(fd, 1);
    }
    if (rank == 0)
        until(fd, messages);
    for (int i = 0; rank == 0 && i < messages; ++i) {
        CHECK(got[i] == i);
        CHECK(statuses[i].MPI_TAG == i);
        CHECK(statuses[i].MPI_SOURCE == other);
    }
    close(fd);
}

/* Long messages, which both sides have to move, under one call; a descriptor of the program's. */
static void together(void) {
    static char out[length], in[length];
    int fd = eventfd(0, EFD_CLOEXEC);
    MPI_Request both[2];
    memset(out, 1 + rank, length);
    MPI_Irecv(in, length, MPI_CHAR, other, 0, MPI_COMM_WORLD, both);
    MPI_Isend(out, length, MPI_CHAR, other, 0, MPI_COMM_WORLD, both + 1);
    CHECK(sennit_event_fd(&fd, 2, both, NULL) == SENNIT_SUCCESS);
    until(fd, 1);
    CHECK(in[length - 1] == 1 + other);

    /* What is complete is told at once. */
    CHECK(sennit_event_fd(&fd, 2, both, NULL) == SENNIT_SUCCESS);
    CHECK(sennit_event_fd(&fd, 2, both, MPI_STATUSES_IGNORE) == SENNIT_SUCCESS);
    CHECK(sennit_event_fd(&fd, 1, both, MPI_STATUS_IGNORE) == SENNIT_SUCCESS);
    CHECK(sennit_event_fd(&fd, 0, NULL, NULL) == SENNIT_SUCCESS);
    until(fd, 4);
    close(fd);
}

/* The program closes the descriptor before its operation is complete: nobody writes to its number.
 */
static void closed_before(void) {
    int fd = -1, value = rank;
    MPI_Request request;
    if (rank == 1)
        MPI_Barrier(MPI_COMM_WORLD); /* sent when the receiver's descriptor is closed */
    if (rank == 0)
        MPI_Irecv(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &request);
    else
        MPI_Isend(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &request);
    CHECK(sennit_event_fd(&fd, 1, &request, NULL) == SENNIT_SUCCESS);
    close(fd);
    const int reused = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t told;
    CHECK(read(reused, &told, sizeof told) == -1);
    close(reused);
}

/* A message longer than its buffer: the handler returns, and the status tells. */
static void failed(void) {
    int fd = -1, buffer[2] = {0, 0}, class = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of requests of no known object */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Irecv(buffer, 1, MPI_INT, other, 0, comm, &request);
    MPI_Barrier(comm);
    if (rank == 1) {
        MPI_Send(buffer, 2, MPI_INT, other, 0, comm);
    } else {
        CHECK(sennit_event_fd(&fd, 1, &request, &status) == SENNIT_SUCCESS);
        until(fd, 1);
        MPI_Error_class(status.MPI_ERROR, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
        close(fd);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

static void errors(void) {
    int fd = -1, none = 1 << 20;
    MPI_Request null = MPI_REQUEST_NULL;
    CHECK(sennit_event_fd(NULL, 1, &null, NULL) == SENNIT_ERR_PARAMETER);
    CHECK(sennit_event_fd(&fd, 1, NULL, NULL) == SENNIT_ERR_PARAMETER);
    CHECK(sennit_event_fd(&fd, -1, &null, NULL) == SENNIT_ERR_PARAMETER);
    CHECK(fd == -1);
    CHECK(sennit_event_fd(&none, 1, &null, NULL) == SENNIT_ERR_PARAMETER);
}

int main(int argc, char **argv) {
    int fd = -1;
    MPI_Request null = MPI_REQUEST_NULL;
    CHECK(sennit_event_fd(&fd, 1, &null, NULL) == SENNIT_ERR_PARAMETER);
    begin(&argc, &argv);
    other = 1 - rank;
    alarm(120);
    one_by_one();
    together();
    closed_before();
    failed();
    errors();
    MPI_Finalize();
    return 0;
}
