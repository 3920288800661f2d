/* SPDX-License-Identifier: Apache-2.0
 *
 * TAMPI.h - task-aware MPI (Sala et al., "Integrating blocking and non-blocking MPI primitives with
 * task-based programming models"). The functions are in Sennit's MPI libraries.
 */
#ifndef TAMPI_H
#define TAMPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The level of thread support above MPI_THREAD_MULTIPLE: blocking calls in tasks suspend the task.
 * Under `sennit run` they do so for every program; a program that asks for this level by
 * MPI_Init_thread learns from `provided` whether it has it. */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

#define TAMPI_VERSION_MAJOR 4
#define TAMPI_VERSION_MINOR 0

/* Bind the calling task's completion to `request`: its dependences are released when the body has
 * returned and the request is complete; `status` (which must live until then) is written before.
 * *request becomes MPI_REQUEST_NULL. Never blocks. Outside a task: MPI_Wait. Returns an MPI error
 * code. */
int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);

/* The same for `count` requests at once. Outside a task: MPI_Waitall. */
int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]);

/* As the non-blocking calls of MPI, without a request: they return at once, and the calling task's
 * dependences are released when its body has returned and the operation is complete; `status`
 * (which must live until then, or MPI_STATUS_IGNORE) is written before. Outside a task: the
 * blocking call.
 */
int TAMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm);
int TAMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm);
int TAMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm);
int TAMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm);
int TAMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status *status);
int TAMPI_Ibarrier(MPI_Comm comm);
int TAMPI_Ibcast(void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int TAMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TAMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm);
int TAMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int TAMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                    int root, MPI_Comm comm);
int TAMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TAMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                      MPI_Comm comm);
int TAMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int TAMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int TAMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                     const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int TAMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  int root, MPI_Comm comm);
int TAMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm);
int TAMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TAMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int TAMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm);
int TAMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm);

/* Properties. The first two can only be read: is the mode available? The third, 1 at first, can be
 * set before MPI_Init: 1, the modes begin and end with MPI; 0, with TAMPI_Init and TAMPI_Finalize.
 * The last is of the calling thread, 1 at first: do its blocking calls in tasks suspend the task?
 * MPI_ERR_ARG for what is not possible. */
#define TAMPI_PROPERTY_BLOCKING_MODE 0x1
#define TAMPI_PROPERTY_NONBLOCKING_MODE 0x2
#define TAMPI_PROPERTY_AUTO_INIT 0x3
#define TAMPI_PROPERTY_THREAD_TASKAWARE 0x4
int TAMPI_Property_get(int property, int *value);
int TAMPI_Property_set(int property, int value);

/* After MPI_Init and before MPI_Finalize. With TAMPI_PROPERTY_AUTO_INIT 0 both modes are there
 * between them, if `required` is at least MPI_THREAD_MULTIPLE; else nothing is left for them to do.
 * `provided` becomes MPI_TASK_MULTIPLE where that is required and available, else MPI's level. */
int TAMPI_Init(int required, int *provided);
int TAMPI_Finalize(void);

int TAMPI_Blocking_enabled(int *flag);
int TAMPI_Nonblocking_enabled(int *flag);

#ifdef __cplusplus
}
#endif

#include "TAMPI_Wrappers.h" /* the calls of TAMPI 1 to 3: with a request */
#endif
