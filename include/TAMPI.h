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

/* Bind the calling task's completion to `request`: its dependences are released when the body has
 * returned and the request is complete; `status` (which must live until then) is written before.
 * *request becomes MPI_REQUEST_NULL. Never blocks. Outside a task: MPI_Wait. Returns an MPI error
 * code. */
int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);

/* The same for `count` requests at once. Outside a task: MPI_Waitall. */
int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]);

#ifdef __cplusplus
}
#endif
#endif
