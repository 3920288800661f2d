/* SPDX-License-Identifier: Apache-2.0
 *
 * TAMPI_Wrappers.h - TAMPI's non-blocking calls as its versions 1 to 3 have them: with a request,
 * as MPI's have it, so that one source is both a plain MPI program and one with tasks. TAMPI.h
 * includes this file.
 *
 * TAMPI_Isend(buf, ..., comm, &request) is MPI_Isend. Where tasks are aware of MPI, it is bound to
 * the calling task as by TAMPI_Iwait, and TAMPI_Wait and TAMPI_Waitall, which the program calls for
 * its requests later, do nothing. Everywhere else, and in programs that are built without OpenMP,
 * the request is the program's, and they are MPI_Wait and MPI_Waitall. TAMPI_Irecv has its status
 * behind the request.
 *
 * The number of arguments decides which form is called: in C++ by overloads, in C by macros. An
 * argument in C with commas of its own has to be in parentheses: ((int[]){1, 2}).
 */
#ifndef TAMPI_WRAPPERS_H
#define TAMPI_WRAPPERS_H

#include "TAMPI.h"

#ifdef __cplusplus
extern "C++" {
#define SENNIT_TAMPI_NAME(call) TAMPI_##call
#else
#define SENNIT_TAMPI_NAME(call) sennit_tampi_##call
#endif

/* Are operations bound to tasks? */
static inline int sennit_tampi_binds(void) {
    int binds = 0;
#ifdef _OPENMP
    TAMPI_Nonblocking_enabled(&binds);
#endif
    return binds;
}

static inline int sennit_tampi_started(int error, MPI_Request *request, MPI_Status *status) {
    return error == MPI_SUCCESS && sennit_tampi_binds() ? TAMPI_Iwait(request, status) : error;
}

static inline int TAMPI_Wait(MPI_Request *request, MPI_Status *status) {
    return sennit_tampi_binds() ? MPI_SUCCESS : MPI_Wait(request, status);
}

static inline int TAMPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    return sennit_tampi_binds() ? MPI_SUCCESS : MPI_Waitall(count, requests, statuses);
}

/* call, its parameters, its arguments. */
#define SENNIT_TAMPI_UNPACK(...) __VA_ARGS__
#define SENNIT_TAMPI_WRAPPER(call, parameters, arguments)                                          \
    static inline int SENNIT_TAMPI_NAME(call)(SENNIT_TAMPI_UNPACK parameters,                      \
                                              MPI_Request * request) {                             \
        return sennit_tampi_started(MPI_##call(SENNIT_TAMPI_UNPACK arguments, request), request,   \
                                    MPI_STATUS_IGNORE);                                            \
    }
#define SENNIT_TAMPI_SEND(call)                                                                    \
    SENNIT_TAMPI_WRAPPER(                                                                          \
        call,                                                                                      \
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),     \
        (buf, count, datatype, dest, tag, comm))
/* What a rank sends, and receives: as much of each rank, or not. */
#define SENNIT_TAMPI_SENT const void *sendbuf, int sendcount, MPI_Datatype sendtype
#define SENNIT_TAMPI_SENT_V                                                                        \
    const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype
#define SENNIT_TAMPI_GOT void *recvbuf, int recvcount, MPI_Datatype recvtype
#define SENNIT_TAMPI_GOT_V                                                                         \
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype
#define SENNIT_TAMPI_REDUCED(counts)                                                               \
    const void *sendbuf, void *recvbuf, counts, MPI_Datatype datatype, MPI_Op op

SENNIT_TAMPI_SEND(Isend)
SENNIT_TAMPI_SEND(Issend)
SENNIT_TAMPI_SEND(Irsend)
SENNIT_TAMPI_SEND(Ibsend)
static inline int SENNIT_TAMPI_NAME(Irecv)(void *buf, int count, MPI_Datatype datatype, int source,
                                           int tag, MPI_Comm comm, MPI_Request *request,
                                           MPI_Status *status) {
    return sennit_tampi_started(MPI_Irecv(buf, count, datatype, source, tag, comm, request),
                                request, status);
}
SENNIT_TAMPI_WRAPPER(Ibarrier, (MPI_Comm comm), (comm))
SENNIT_TAMPI_WRAPPER(Ibcast, (void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
                     (buf, count, datatype, root, comm))
SENNIT_TAMPI_WRAPPER(Igather, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT, int root, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
SENNIT_TAMPI_WRAPPER(Igatherv, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT_V, int root, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, root,
                      comm))
SENNIT_TAMPI_WRAPPER(Iscatter, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT, int root, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
SENNIT_TAMPI_WRAPPER(Iscatterv, (SENNIT_TAMPI_SENT_V, SENNIT_TAMPI_GOT, int root, MPI_Comm comm),
                     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype, root,
                      comm))
SENNIT_TAMPI_WRAPPER(Iallgather, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
SENNIT_TAMPI_WRAPPER(Iallgatherv, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT_V, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
SENNIT_TAMPI_WRAPPER(Ialltoall, (SENNIT_TAMPI_SENT, SENNIT_TAMPI_GOT, MPI_Comm comm),
                     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
SENNIT_TAMPI_WRAPPER(Ialltoallv, (SENNIT_TAMPI_SENT_V, SENNIT_TAMPI_GOT_V, MPI_Comm comm),
                     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                      recvtype, comm))
SENNIT_TAMPI_WRAPPER(Ialltoallw,
                     (const void *sendbuf, const int sendcounts[], const int sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                      recvtypes, comm))
SENNIT_TAMPI_WRAPPER(Ireduce, (SENNIT_TAMPI_REDUCED(int count), int root, MPI_Comm comm),
                     (sendbuf, recvbuf, count, datatype, op, root, comm))
SENNIT_TAMPI_WRAPPER(Iallreduce, (SENNIT_TAMPI_REDUCED(int count), MPI_Comm comm),
                     (sendbuf, recvbuf, count, datatype, op, comm))
SENNIT_TAMPI_WRAPPER(Ireduce_scatter, (SENNIT_TAMPI_REDUCED(const int recvcounts[]), MPI_Comm comm),
                     (sendbuf, recvbuf, recvcounts, datatype, op, comm))
SENNIT_TAMPI_WRAPPER(Ireduce_scatter_block, (SENNIT_TAMPI_REDUCED(int recvcount), MPI_Comm comm),
                     (sendbuf, recvbuf, recvcount, datatype, op, comm))
SENNIT_TAMPI_WRAPPER(Iscan, (SENNIT_TAMPI_REDUCED(int count), MPI_Comm comm),
                     (sendbuf, recvbuf, count, datatype, op, comm))
SENNIT_TAMPI_WRAPPER(Iexscan, (SENNIT_TAMPI_REDUCED(int count), MPI_Comm comm),
                     (sendbuf, recvbuf, count, datatype, op, comm))

#undef SENNIT_TAMPI_NAME
#undef SENNIT_TAMPI_WRAPPER
#undef SENNIT_TAMPI_SEND
#undef SENNIT_TAMPI_SENT
#undef SENNIT_TAMPI_SENT_V
#undef SENNIT_TAMPI_GOT
#undef SENNIT_TAMPI_GOT_V
#undef SENNIT_TAMPI_REDUCED
#undef SENNIT_TAMPI_UNPACK

#ifdef __cplusplus
} /* extern "C++" */
#else

/* SENNIT_TAMPI_<n>(w, o, arguments): w if there are n arguments, else o. What stands in the
 * eleventh place is chosen. */
#define SENNIT_TAMPI_ELEVENTH(a, b, c, d, e, f, g, h, i, j, chosen, ...) chosen
#define SENNIT_TAMPI_2(w, o, ...)                                                                  \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, o, o, o, o, o, o, o, o, w, o, o)
#define SENNIT_TAMPI_6(w, o, ...)                                                                  \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, o, o, o, o, w, o, o, o, o, o, o)
#define SENNIT_TAMPI_7(w, o, ...)                                                                  \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, o, o, o, w, o, o, o, o, o, o, o)
#define SENNIT_TAMPI_8(w, o, ...)                                                                  \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, o, o, w, o, o, o, o, o, o, o, o)
#define SENNIT_TAMPI_9(w, o, ...)                                                                  \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, o, w, o, o, o, o, o, o, o, o, o)
#define SENNIT_TAMPI_10(w, o, ...)                                                                 \
    SENNIT_TAMPI_ELEVENTH(__VA_ARGS__, w, o, o, o, o, o, o, o, o, o, o)

#define TAMPI_Isend(...) SENNIT_TAMPI_7(sennit_tampi_Isend, TAMPI_Isend, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Issend(...)                                                                          \
    SENNIT_TAMPI_7(sennit_tampi_Issend, TAMPI_Issend, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Irsend(...)                                                                          \
    SENNIT_TAMPI_7(sennit_tampi_Irsend, TAMPI_Irsend, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ibsend(...)                                                                          \
    SENNIT_TAMPI_7(sennit_tampi_Ibsend, TAMPI_Ibsend, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Irecv(...) SENNIT_TAMPI_8(sennit_tampi_Irecv, TAMPI_Irecv, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ibarrier(...)                                                                        \
    SENNIT_TAMPI_2(sennit_tampi_Ibarrier, TAMPI_Ibarrier, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ibcast(...)                                                                          \
    SENNIT_TAMPI_6(sennit_tampi_Ibcast, TAMPI_Ibcast, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Igather(...)                                                                         \
    SENNIT_TAMPI_9(sennit_tampi_Igather, TAMPI_Igather, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Igatherv(...)                                                                        \
    SENNIT_TAMPI_10(sennit_tampi_Igatherv, TAMPI_Igatherv, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iscatter(...)                                                                        \
    SENNIT_TAMPI_9(sennit_tampi_Iscatter, TAMPI_Iscatter, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iscatterv(...)                                                                       \
    SENNIT_TAMPI_10(sennit_tampi_Iscatterv, TAMPI_Iscatterv, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iallgather(...)                                                                      \
    SENNIT_TAMPI_8(sennit_tampi_Iallgather, TAMPI_Iallgather, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iallgatherv(...)                                                                     \
    SENNIT_TAMPI_9(sennit_tampi_Iallgatherv, TAMPI_Iallgatherv, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ialltoall(...)                                                                       \
    SENNIT_TAMPI_8(sennit_tampi_Ialltoall, TAMPI_Ialltoall, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ialltoallv(...)                                                                      \
    SENNIT_TAMPI_10(sennit_tampi_Ialltoallv, TAMPI_Ialltoallv, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ialltoallw(...)                                                                      \
    SENNIT_TAMPI_10(sennit_tampi_Ialltoallw, TAMPI_Ialltoallw, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ireduce(...)                                                                         \
    SENNIT_TAMPI_8(sennit_tampi_Ireduce, TAMPI_Ireduce, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iallreduce(...)                                                                      \
    SENNIT_TAMPI_7(sennit_tampi_Iallreduce, TAMPI_Iallreduce, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ireduce_scatter(...)                                                                 \
    SENNIT_TAMPI_7(sennit_tampi_Ireduce_scatter, TAMPI_Ireduce_scatter, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Ireduce_scatter_block(...)                                                           \
    SENNIT_TAMPI_7(sennit_tampi_Ireduce_scatter_block, TAMPI_Ireduce_scatter_block,                \
                   __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iscan(...) SENNIT_TAMPI_7(sennit_tampi_Iscan, TAMPI_Iscan, __VA_ARGS__)(__VA_ARGS__)
#define TAMPI_Iexscan(...)                                                                         \
    SENNIT_TAMPI_7(sennit_tampi_Iexscan, TAMPI_Iexscan, __VA_ARGS__)(__VA_ARGS__)
#endif
#endif
